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
/// publishes the topic, with the policy `drop_oldest`, so that it never slows training. It does not request the content
/// of tensors, so only the dtype and the shape of a tensor arrive.
class Subscriber {
 public:
  /// One message in its encoded form, because the command knows no message types at compile time.
  struct Received {
    Header header;
    std::string body;
    const Schema* schema = nullptr;  ///< The schema by which `body` can be decoded; valid as long as the subscriber.
  };

  /// `endpoints` are the addresses of the publishers' gateways; duplicates are ignored. Throws kIo.
  Subscriber(zmq::context_t& context, const std::string& topic, std::vector<std::string> endpoints);

  /// Unsubscribes, so that the publishers send nothing more.
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  /// Returns the next message, or nothing if none arrives within `deadline`. Throws kNotFound if a publisher refuses
  /// the subscription, and kCorrupt if a publisher sends a malformed message.
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
  /// The publishers, indexed by the number of the subscription. The container is a deque because schemas must not move.
  std::deque<Source> sources_;
};

}  // namespace trainyard::tools
