// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "visitors/gateway_link.h"
#include "visitors/stream.h"

namespace trainyard::foxglove {

/// Receives the messages of some topics of a run, as a program outside the run would. Unlike visitors::Watch, it can
/// begin and stop listening to a topic at any time, so that the run sends only what a client wants. Only one thread may
/// use it.
class TopicFeed {
 public:
  explicit TopicFeed(zmq::context_t& context) : context_(context) {}

  /// Sets the addresses of the processes that publish each topic. `topics` is the answer of the run's registry (the
  /// socket at which the launcher answers questions) to the question `topics`.
  void locate(const nlohmann::json& topics);

  /// Listens to exactly these topics from now on. If a topic does not exist yet, the feed begins to listen to it when
  /// it appears in a later call of locate().
  void follow(const std::set<std::string>& topics);

  /// Returns the next message, or nothing if none arrives within `patience`. If several topics have messages, the
  /// topics take turns from call to call. If a process violates the protocol, the feed stops listening to it until the
  /// next call of locate().
  std::optional<visitors::Received> next(std::chrono::milliseconds patience);

 private:
  struct Topic {
    visitors::Stream stream;
    /// The connection to each process that publishes the topic, by endpoint.
    std::map<std::string, std::unique_ptr<visitors::GatewayLink>> links;
  };

  void connect(Topic& topic);
  std::optional<visitors::Received> take();

  zmq::context_t& context_;
  std::map<std::string, std::set<std::string>> endpoints_;  ///< The endpoints that publish each topic.
  std::map<std::string, std::unique_ptr<Topic>> topics_;
  std::string turn_;  ///< The topic of the message that was returned last.
};

}  // namespace trainyard::foxglove
