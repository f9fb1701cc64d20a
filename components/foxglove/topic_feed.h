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

/// Listens to topics of a run as a visitor. Unlike a Watch, it can begin and end to listen to a topic at any time, so
/// that the run sends nothing that nobody wants. One thread uses it.
class TopicFeed {
 public:
  explicit TopicFeed(zmq::context_t& context) : context_(context) {}

  /// Takes the registry's list of topics, which says where they are published.
  void locate(const nlohmann::json& topics);

  /// Listens to these topics from now on, and to no others. Topics that nobody publishes are waited for.
  void follow(const std::set<std::string>& topics);

  /// Returns the next message, or nothing if none arrives in this time. Topics take turns. A process that breaks the
  /// rules of the protocol is listened to again after the next locate().
  std::optional<visitors::Received> next(std::chrono::milliseconds patience);

 private:
  struct Topic {
    visitors::Stream stream;
    std::map<std::string, std::unique_ptr<visitors::GatewayLink>> links;  ///< By endpoint.
  };

  void connect(Topic& topic);
  std::optional<visitors::Received> take();

  zmq::context_t& context_;
  std::map<std::string, std::set<std::string>> endpoints_;  ///< By topic.
  std::map<std::string, std::unique_ptr<Topic>> topics_;
  std::string turn_;  ///< The topic of the last message.
};

}  // namespace trainyard::foxglove
