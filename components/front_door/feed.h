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

/// Listens to one topic of the run, as a visitor, at every process that publishes the topic. It is used on one event
/// loop.
class Feed {
 public:
  using Sink = std::function<void(visitors::Received message)>;

  /// `payloads` is "none" or "inline" (visitors::ListenOptions). `sink` is called for every message.
  Feed(core::EventLoop& loop, zmq::context_t& context, std::string topic, std::string payloads, Sink sink);

  /// Listens at these addresses from now on, and at no others. If the feed had stopped listening at one of them because
  /// the process there violated the protocol, it begins again. Must not be called from within the sink.
  void follow(const std::set<std::string>& endpoints);

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
