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

/// A visitor's ear on one topic of a running launch: subscribes at the gateway of every process that publishes it, with
/// policy drop_oldest, so that it can never slow training. Asks for no payloads: of a tensor come dtype and shape.
class Subscriber {
 public:
  /// One message, not decoded: the command compiles in no message type.
  struct Received {
    Header header;
    std::string body;
    const Schema* schema = nullptr;  ///< Decodes `body`; lives as long as the subscriber.
  };

  /// `endpoints`: gateways of the publishers; one that is named twice counts once. Throws kIo.
  Subscriber(zmq::context_t& context, const std::string& topic, std::vector<std::string> endpoints);

  /// Says goodbye, so that nothing more is sent here.
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  /// The next message; empty if none came in time. Throws kNotFound if a publisher refuses, kCorrupt if one breaks the
  /// format.
  std::optional<Received> next(std::chrono::milliseconds deadline);

 private:
  struct Source {
    zmq::socket_t socket;
    Schema schema;
  };

  std::optional<Received> take(Source& source, std::uint32_t subscription);
  void on_control(Source& source, const std::vector<zmq::message_t>& frames);

  std::string topic_;
  std::deque<Source> sources_;  ///< The index is the subscription's number. A deque: schemas must not move.
};

}  // namespace trainyard::tools
