// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/edge/edge.h"
#include "core/transport/visitor_socket.h"
#include "messages/subscription.h"

namespace trainyard::core {

/// A message in its binary form, which is made once, however many visitors receive the message.
class EncodedMessage {
 public:
  /// Encodes the message, unless this object holds it already.
  void encode(const Envelope& envelope);
  /// Forgets the message, which is kept alive until then.
  void clear();

  const std::shared_ptr<const std::string>& body() const { return body_; }
  const std::vector<Buffer>& payloads() const { return payloads_; }

 private:
  std::shared_ptr<const void> message_;
  std::shared_ptr<const std::string> body_;
  std::vector<Buffer> payloads_;
};

/// The sending end of a visitor's subscription. It never blocks: messages for which the visitor has no room are
/// dropped, the oldest first. The bytes of tensors are sent only if the visitor has asked for them.
class VisitorEdge final : public Edge {
 public:
  /// `visitor` is the name of the connection. The request must have been checked. Nothing is sent before open().
  VisitorEdge(VisitorSocket& socket, EncodedMessage& encoded, OutputBase& output, std::string visitor,
              std::shared_ptr<VisitorAccount> account, const Subscribe& request);

  bool drained() const override { return waiting() == 0 && returned_messages_ == sent_messages_; }

  /// Sends the messages that have arrived since the edge was made. Called when the subscription has been acknowledged.
  void open();
  /// Counts messages and bytes that the visitor has handled.
  void credit(std::uint64_t messages, std::uint64_t bytes);
  /// Returns true once the visitor is known to be gone.
  bool gone() const { return gone_; }

  const std::string& topic() const { return topic_; }
  std::uint32_t subscription() const { return subscription_; }
  /// Returns the number of messages that were dropped here: while they waited, or because they are too large.
  std::uint64_t dropped() const;

 private:
  bool has_room() const override;
  void transmit(const Envelope& envelope) override;
  std::vector<zmq::message_t> frames_of(const Envelope& envelope) const;

  VisitorSocket& socket_;
  EncodedMessage& encoded_;
  std::string visitor_;
  std::shared_ptr<VisitorAccount> account_;
  std::string topic_;
  std::uint32_t subscription_;
  bool inline_payloads_;
  bool open_ = false;
  bool gone_ = false;
  std::uint64_t too_large_ = 0;
  std::uint64_t sent_messages_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t returned_messages_ = 0;
  std::uint64_t returned_bytes_ = 0;
};

}  // namespace trainyard::core
