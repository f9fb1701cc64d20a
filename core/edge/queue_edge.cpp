// SPDX-License-Identifier: Apache-2.0
#include "core/edge/queue_edge.h"

#include "core/component/component.h"

namespace trainyard::core {

// Both loops are woken according to the same protocol (core/loop/wakeup.h): make the work visible, execute a fence, and
// then check whether the other side must be woken.
QueueEdge::QueueEdge(OutputBase& output, InputBase& input, EventLoop& sender, EventLoop& receiver, std::uint32_t id,
                     Policy policy, std::uint64_t window_messages, std::uint64_t window_bytes)
    : Edge(output, id, policy, window_messages, window_bytes),
      input_(input),
      sender_(sender),
      receiver_(receiver),
      ring_(window_messages),
      credits_(*this),
      incoming_(*this) {}

void QueueEdge::collect_with(Collector& collector) {
  collector_ = &collector;
  collector.add(incoming_);
}

bool QueueEdge::has_room() const {
  const auto room = [this] {
    return within_window(sent_messages_ - consumed_messages_.load(std::memory_order_acquire),
                         sent_bytes_ - consumed_bytes_.load(std::memory_order_acquire));
  };
  if (room()) return true;
  // The sender asks to be woken and then checks again, because the receiver may have returned credit in the meantime.
  starved_ = true;
  wants_wake_.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return room();
}

void QueueEdge::transmit(const Envelope& envelope) {
  ++sent_messages_;
  sent_bytes_ += envelope.bytes;
  // The ring cannot be full, because it has room for all messages that may be in flight.
  ring_.push(Envelope(envelope));
  if (collector_ == nullptr) return receiver_.wake();
  collector_->announce(half_full());
}

bool QueueEdge::half_full() const {
  return 2 * (sent_messages_ - consumed_messages_.load(std::memory_order_relaxed)) >= window_messages_ ||
         2 * (sent_bytes_ - consumed_bytes_.load(std::memory_order_relaxed)) >= window_bytes_;
}

void QueueEdge::consumed(const Envelope& envelope) {
  // The bytes are counted first, so a sender that sees that the message was consumed also sees its bytes.
  consumed_bytes_.fetch_add(envelope.bytes, std::memory_order_release);
  consumed_messages_.fetch_add(1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (wants_wake_.load(std::memory_order_relaxed)) sender_.wake();
}

// This is the same protocol as in has_room(): if the result is false, the sender is woken when credit is returned.
bool QueueEdge::drained() const {
  const auto done = [this] {
    return waiting() == 0 && consumed_messages_.load(std::memory_order_acquire) == sent_messages_;
  };
  if (done()) return true;
  wants_wake_.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return done();
}

// The two counters are read one after the other, so the result can be wrong by the number of messages in between.
std::optional<std::uint64_t> QueueEdge::under_way() const {
  const std::uint64_t consumed = consumed_messages_.load(std::memory_order_relaxed);
  const std::uint64_t sent = counters().sent.load(std::memory_order_relaxed);
  return sent > consumed ? sent - consumed : 0;
}

// Without the check of starved_, there would be work whenever there is room, and the loop would never sleep.
bool QueueEdge::Credits::has_work() const {
  return edge_.starved_ &&
         edge_.within_window(edge_.sent_messages_ - edge_.consumed_messages_.load(std::memory_order_acquire),
                             edge_.sent_bytes_ - edge_.consumed_bytes_.load(std::memory_order_acquire));
}

bool QueueEdge::Credits::poll() {
  if (!has_work()) return false;
  // The flag is cleared before on_room(), which may set it again.
  edge_.starved_ = false;
  edge_.wants_wake_.store(false, std::memory_order_relaxed);
  edge_.on_room();
  return true;
}

// The number of messages is limited, so that one busy edge does not keep the loop's other edges waiting.
bool QueueEdge::Incoming::poll() {
  constexpr int kRound = 16;
  Envelope envelope;
  int taken = 0;
  for (; taken < kRound && edge_.ring_.pop(envelope); ++taken) {
    edge_.input_.owner().deliver({&edge_.input_, std::move(envelope), &edge_});
  }
  return taken != 0;
}

}  // namespace trainyard::core
