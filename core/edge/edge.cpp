// SPDX-License-Identifier: Apache-2.0
#include "core/edge/edge.h"

#include "core/component/component.h"
#include "core/component/output.h"
#include "core/loop/event_loop.h"

namespace trainyard::core {

Edge::Edge(OutputBase& output, std::uint32_t id, Policy policy, std::uint64_t window_messages,
           std::uint64_t window_bytes)
    : window_messages_(window_messages), window_bytes_(window_bytes), output_(output), id_(id), policy_(policy) {}

// Messages that already wait go first, even if there is room.
void Edge::send(const Envelope& envelope) {
  if (waiting_.empty() && has_room()) {
    receiver_gone_ = false;
    carry(envelope);
  } else if (receiver_gone_) {
    counters_.dropped.fetch_add(1, std::memory_order_relaxed);
  } else {
    keep_back(envelope);
  }
}

void Edge::keep_back(const Envelope& envelope) {
  counters_.blocked.fetch_add(1, std::memory_order_relaxed);
  // The queue of a blocking edge needs no limit: while it is not empty, the component receives no further input, so it
  // can add only the messages that one handler or task sends.
  if (policy_ == Policy::kBlock) {
    if (waiting_.empty()) output_.edge_blocked();
  } else {
    const std::uint64_t keep = policy_ == Policy::kLatest ? 1 : window_messages_;
    // A message that waits keeps the memory of its tensors in use, so the limit on bytes applies, too.
    while (!waiting_.empty() && (waiting_.size() >= keep || waiting_bytes_ + envelope.bytes > window_bytes_)) {
      take_oldest();
      counters_.dropped.fetch_add(1, std::memory_order_relaxed);
    }
  }
  waiting_.push_back(envelope);
  waiting_bytes_ += envelope.bytes;
}

Envelope Edge::take_oldest() {
  Envelope oldest = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= oldest.bytes;
  return oldest;
}

void Edge::on_room() {
  const bool was_waiting = !waiting_.empty();
  while (!waiting_.empty()) {
    const bool room = has_room();
    if (!room && !receiver_gone_) break;
    const Envelope next = take_oldest();
    if (room) {
      receiver_gone_ = false;
      carry(next);
    } else {
      counters_.dropped.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // The output is notified even if no message has waited, because a component that produces data may have stopped when
  // ready() returned false.
  if (policy_ != Policy::kBlock || !waiting_.empty()) return;
  const RoomScope room(output_.owner().loop().activity(), id_);
  output_.room_again(was_waiting);
}

void Edge::receiver_gone() {
  receiver_gone_ = true;
  on_room();
}

void Edge::carry(const Envelope& envelope) {
  counters_.sent.fetch_add(1, std::memory_order_relaxed);
  counters_.bytes.fetch_add(envelope.bytes, std::memory_order_relaxed);
  transmit(envelope);
}

}  // namespace trainyard::core
