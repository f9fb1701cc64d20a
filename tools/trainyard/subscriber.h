// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "messages/header.h"
#include "messages/schema.h"
#include "messages/subscription.h"

namespace trainyard::tools {

/// A visitor's subscription to one topic of a running launch. It subscribes at the gateway of every process that
/// publishes the topic, with the policy drop_oldest, so that it can never slow training. It requests no payloads, so
/// only the dtype and the shape of a tensor arrive.
class Subscriber {
 public:
  /// One message, which is not decoded, because no message type is compiled into the command.
  struct Received {
    Header header;
    std::string body;
    const Schema* schema = nullptr;  ///< Decodes `body`. It lives as long as the subscriber.
  };

  /// `endpoints` are the gateways of the publishers; duplicates are ignored. Throws kIo.
  Subscriber(zmq::context_t& context, const std::string& topic, std::vector<std::string> endpoints);

  /// Unsubscribes, so that nothing more is sent here.
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  /// Returns the next message; empty if none arrives in time. Throws kNotFound if a publisher refuses, and kCorrupt if
  /// one breaks the format.
  std::optional<Received> next(std::chrono::milliseconds deadline);

  /// Returns true once every publisher has sent Ended. By that time, next() has returned all messages that were sent
  /// before Ended.
  bool ended() const;

 private:
  struct Source {
    zmq::socket_t socket;
    Schema schema;
    bool ended = false;
  };

  std::optional<Received> take(Source& source, std::uint32_t subscription);
  void on_control(Source& source, const std::vector<zmq::message_t>& frames);

  std::string topic_;
  /// The index is the subscription's number. It is a deque because schemas must not move.
  std::deque<Source> sources_;
};

}  // namespace trainyard::tools
