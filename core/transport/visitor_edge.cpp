// SPDX-License-Identifier: Apache-2.0
#include "core/transport/visitor_edge.h"

#include <algorithm>

#include "core/component/boundary.h"
#include "core/component/output.h"
#include "messages/header.h"

namespace trainyard::core {

void EncodedMessage::encode(const Envelope& envelope) {
  if (message_ == envelope.message) return;
  // If the encoding fails, this object must not contain parts of two messages.
  clear();
  auto body = std::make_shared<std::string>();
  envelope.type->encode(envelope.message.get(), *body, payloads_);
  body_ = std::move(body);
  message_ = envelope.message;
}

void EncodedMessage::clear() {
  message_.reset();
  body_.reset();
  payloads_.clear();
}

VisitorEdge::VisitorEdge(VisitorSocket& socket, EncodedMessage& encoded, OutputBase& output, std::string visitor,
                         std::shared_ptr<VisitorAccount> account, const Subscribe& request)
    : Edge(output, request.edge, from_name<Policy>(request.policy), std::max<std::uint64_t>(request.window_messages, 1),
           std::max<std::uint64_t>(request.window_bytes, 1)),
      socket_(socket),
      encoded_(encoded),
      visitor_(std::move(visitor)),
      account_(std::move(account)),
      topic_(request.topic),
      subscription_(request.subscription),
      inline_payloads_(request.payloads == "inline") {}

void VisitorEdge::open() {
  open_ = true;
  on_room();
}

void VisitorEdge::credit(std::uint64_t messages, std::uint64_t bytes) {
  // The credit is limited to what was sent, whatever the visitor claims.
  returned_messages_ += std::min(messages, sent_messages_ - returned_messages_);
  returned_bytes_ += std::min(bytes, sent_bytes_ - returned_bytes_);
  on_room();
}

std::uint64_t VisitorEdge::dropped() const { return counters().dropped.load(std::memory_order_relaxed) + not_sent_; }

// The visitor's credit, which it may claim wrongly, and the ledger, which knows the bytes that libzmq still holds, must
// both allow the message.
bool VisitorEdge::has_room() const {
  return open_ && !gone_ && within_window(sent_messages_ - returned_messages_, sent_bytes_ - returned_bytes_) &&
         socket_.ledger().has_room(*account_);
}

// A message that cannot be encoded, such as one with too many payloads, is dropped, too. The exception must not leave
// this function: neither the gateway nor other visitors nor the messages that wait at this edge may suffer from it.
void VisitorEdge::transmit(const Envelope& envelope) {
  try {
    encode_and_send(envelope);
  } catch (...) {
    ++not_sent_;
    encoded_.report_failure(topic_, describe_current_exception());
  }
}

// A message that does not fit now is dropped, because the visitor may never make room for it. The visitor notices a gap
// in the sequence numbers.
void VisitorEdge::encode_and_send(const Envelope& envelope) {
  encoded_.encode(envelope);
  std::uint64_t bytes = encoded_.body()->size();
  if (inline_payloads_) {
    for (const Buffer& payload : encoded_.payloads()) bytes += payload.size();
  }
  if (!socket_.ledger().fits(*account_, bytes)) {
    ++not_sent_;
    return;
  }
  // The message is counted only when its frames exist, because there is no credit for a message that is not sent.
  std::vector<zmq::message_t> frames = frames_of(envelope);
  ++sent_messages_;
  sent_bytes_ += bytes;
  if (!socket_.send(frames)) gone_ = true;
}

std::vector<zmq::message_t> VisitorEdge::frames_of(const Envelope& envelope) const {
  Header header;
  header.payloads = static_cast<std::uint16_t>(encoded_.payloads().size());
  header.fingerprint = envelope.type->fingerprint;
  header.sequence = envelope.sequence;
  header.source = envelope.source;
  header.subscription = subscription_;
  header.send_time_ns = envelope.send_time_ns;
  header.trace = envelope.trace;
  // A message may be larger than the whole capacity. It is charged at most half of it, so that other visitors still
  // have room.
  std::uint64_t chargeable = VisitorLedger::kBytes / 2;
  const auto charged = [&](std::shared_ptr<const void> owner, const void* data, std::size_t size, std::uint64_t more) {
    const std::uint64_t bytes = std::min(size + more, chargeable);
    chargeable -= bytes;
    return socket_.ledger().frame(account_, std::move(owner), data, size, bytes);
  };
  std::vector<zmq::message_t> frames;
  frames.emplace_back(std::string_view(visitor_));
  frames.emplace_back(std::string_view(topic_));
  frames.emplace_back(&header, sizeof header);
  const auto& body = encoded_.body();
  frames.push_back(charged(body, body->data(), body->size(), VisitorLedger::kMessageBytes));
  for (const Buffer& payload : encoded_.payloads()) {
    frames.push_back(inline_payloads_ ? charged(payload.owner(), payload.data(), payload.size(), 0) : zmq::message_t());
  }
  return frames;
}

}  // namespace trainyard::core
