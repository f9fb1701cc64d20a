// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <zmq.hpp>

#include "core/loop/event_loop.h"
#include "visitors/gateway_link.h"
#include "visitors/stream.h"

namespace trainyard::front_door {

/// Receives the messages of one topic of the run from every process that publishes the topic. It must be used on the
/// event loop `loop`.
class Feed {
 public:
  using Sink = std::function<void(visitors::Received message)>;

  /// `payloads` determines whether the messages contain the bytes of tensors: "none" or "inline"
  /// (visitors::ListenOptions). `sink` is called on the event loop for every message.
  Feed(core::EventLoop& loop, zmq::context_t& context, std::string topic, std::string payloads, Sink sink);

  /// Listens to the processes at these addresses from now on, including those that the feed had stopped listening to
  /// because they violated the protocol. Connections to other addresses are kept until they are lost. Must not be
  /// called by `sink`.
  void follow(const std::set<std::string>& endpoints);

  /// Returns the number of connections.
  std::size_t links() const { return links_.size(); }

 private:
  class Link;

  core::EventLoop& loop_;
  zmq::context_t& context_;
  visitors::Stream stream_;
  visitors::ListenOptions options_;
  Sink sink_;
  std::map<std::string, std::shared_ptr<Link>> links_;  ///< The connection to each address.
};

}  // namespace trainyard::front_door
