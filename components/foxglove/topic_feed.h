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

/// Listens to topics of a run as a visitor. Unlike a Watch, it can begin and stop listening to a topic at any time, so
/// that the run sends only what somebody wants. It may be used by one thread only.
class TopicFeed {
 public:
  explicit TopicFeed(zmq::context_t& context) : context_(context) {}

  /// Sets the addresses of the processes that publish each topic. `topics` is the registry's list of topics.
  void locate(const nlohmann::json& topics);

  /// Listens to these topics from now on, and to no others. If nobody publishes a topic yet, the feed begins to listen
  /// when a later locate() contains it.
  void follow(const std::set<std::string>& topics);

  /// Returns the next message, or nothing if no message arrives within `patience`. If several topics have messages,
  /// they take turns. If a process violates the protocol, the feed stops listening to it until the next call of
  /// locate().
  std::optional<visitors::Received> next(std::chrono::milliseconds patience);

 private:
  struct Topic {
    visitors::Stream stream;
    /// The connections through which the topic is received, by endpoint.
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
