// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/edge/edge.h"
#include "core/transport/visitor_socket.h"
#include "messages/subscription.h"

namespace trainyard::core {

/// A message in its binary form, which is encoded only once, even if many visitors (programs that attach to a running
/// launch) receive the message.
class EncodedMessage {
 public:
  /// `failed` is called when a message on `topic` cannot be sent to a visitor, and `what` is the reason. It may be
  /// empty.
  explicit EncodedMessage(std::function<void(const std::string& topic, const std::string& what)> failed = {})
      : failed_(std::move(failed)) {}

  /// Encodes the message. Does nothing if this object contains the message already.
  void encode(const Envelope& envelope);
  /// Reports that a message cannot be sent.
  void report_failure(const std::string& topic, const std::string& what) const {
    if (failed_) failed_(topic, what);
  }
  /// Releases the message, which this object keeps alive until then.
  void clear();

  const std::shared_ptr<const std::string>& body() const { return body_; }
  const std::vector<Buffer>& payloads() const { return payloads_; }

 private:
  std::function<void(const std::string& topic, const std::string& what)> failed_;
  std::shared_ptr<const void> message_;
  std::shared_ptr<const std::string> body_;
  std::vector<Buffer> payloads_;
};

/// The sending end of a subscription of a visitor, a program that attaches to a running launch. It never makes the
/// sender wait: if the visitor is slow, messages wait in a bounded queue, and when the queue is full, the oldest
/// messages are dropped. The bytes of tensors are sent only if the visitor has asked for them.
class VisitorEdge final : public Edge {
 public:
  /// Makes an edge for a request that has been checked. `encoded` stores the message that is being sent; edges of
  /// several visitors share it. `visitor` is the visitor's name (the routing id of its connection), and `account`
  /// counts its unread bytes. Nothing is sent before open() is called.
  VisitorEdge(VisitorSocket& socket, EncodedMessage& encoded, OutputBase& output, std::string visitor,
              std::shared_ptr<VisitorAccount> account, const Subscribe& request);

  bool drained() const override { return waiting() == 0 && returned_messages_ == sent_messages_; }

  /// Sends the messages that have been given to the edge since it was made. Call this function when the subscription
  /// has been acknowledged.
  void open();
  /// Counts messages and bytes that the visitor has handled, and sends the waiting messages.
  void credit(std::uint64_t messages, std::uint64_t bytes);
  /// Returns true if a message could not be sent because the visitor had disconnected.
  bool gone() const { return gone_; }

  const std::string& topic() const { return topic_; }
  std::uint32_t subscription() const { return subscription_; }
  /// Returns true if the visitor has asked for the bytes of tensors.
  bool inline_payloads() const { return inline_payloads_; }
  /// Returns the number of messages that this edge has dropped, because the queue was full, because they did not fit
  /// (VisitorLedger::fits()), or because they could not be encoded.
  std::uint64_t dropped() const;

 private:
  bool has_room() const override;
  void transmit(const Envelope& envelope) override;
  void encode_and_send(const Envelope& envelope);
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
  std::uint64_t not_sent_ = 0;  ///< The number of messages that did not fit or could not be encoded.
  std::uint64_t sent_messages_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t returned_messages_ = 0;
  std::uint64_t returned_bytes_ = 0;
};

}  // namespace trainyard::core
