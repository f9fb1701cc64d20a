// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <zmq.hpp>

#include "core/transport/frames.h"
#include "messages/scalar.h"
#include "messages/subscription.h"

namespace trainyard::visitors::testing {

/// Imitates, in tests, the gateway of a process (the part that serves visitors). It publishes one topic with messages
/// of the type Scalar. It has no thread: it receives and sends only when the test calls a function.
class FakeGateway {
 public:
  FakeGateway(zmq::context_t& context, const std::string& endpoint, std::string topic = "/scalars")
      : socket_(context, zmq::socket_type::router), topic_(std::move(topic)) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 20'000);
    socket_.bind(endpoint);
  }

  /// Receives the next control message and returns its kind, such as "Subscribe", or "(nothing)" after 20 s. Keeps the
  /// sender and the body for answer() and body().
  std::string receive() {
    zmq::message_t peer, empty, kind;
    if (!socket_.recv(peer)) return "(nothing)";
    (void)socket_.recv(empty);
    (void)socket_.recv(kind);
    (void)socket_.recv(body_);
    peer_ = peer.to_string();
    return kind.to_string();
  }

  /// Returns the body of the control message that receive() has received most recently.
  template <class T>
  T body() const {
    return core::read_message<T>(body_);
  }

  /// Answers the subscription that receive() has received: accepts it or, if `error` is not empty, refuses it with this
  /// text.
  void answer(const std::string& error = "") {
    const MessageType& type = message_type<Scalar>();
    core::send_control(socket_, peer_,
                       Subscribed{.topic = topic_,
                                  .type = type.name,
                                  .fingerprint = type.fingerprint,
                                  .schema = type.schema_text,
                                  .error = error});
  }

  /// Waits for a subscription and accepts it.
  void accept() {
    ASSERT_EQ(receive(), "Subscribe");
    answer();
  }

  void publish(const Scalar& scalar, std::uint64_t sequence, std::uint32_t source = 0) {
    std::string body;
    std::vector<Buffer> none;
    encode(scalar, body, none);
    const Header header{.fingerprint = message_type<Scalar>().fingerprint, .sequence = sequence, .source = source};
    core::Frames frames;
    for (const std::string_view part :
         {std::string_view(peer_), std::string_view(topic_),
          std::string_view(reinterpret_cast<const char*>(&header), sizeof header), std::string_view(body)}) {
      frames.emplace_back(part);
    }
    core::send_frames(socket_, frames);
  }

  template <class T>
  void send(const T& control) {
    core::send_control(socket_, peer_, control);
  }

 private:
  zmq::socket_t socket_;
  std::string topic_;
  std::string peer_;
  zmq::message_t body_;
};

}  // namespace trainyard::visitors::testing
