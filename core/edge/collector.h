// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "core/loop/event_loop.h"

namespace trainyard::core {

/// Takes the messages of several queue edges (QueueEdge) that end on one event loop. A queue edge is a connection
/// between two event loops of one process; its messages wait in a ring. When all these rings are empty, the collector
/// rests for a fixed time, so that a steady stream of messages is handled in batches.
///
/// Waking a sleeping thread costs the sender several microseconds, and the receiver even more. A receiver that handles
/// a message in a few microseconds falls asleep before the next message arrives, so it would have to be woken for every
/// message. During a rest, senders do not wake the receiver, except for an urgent message (see announce()). A timer of
/// the loop ends the rest, and then all messages that have arrived are handled. If no message arrives during a rest, no
/// further rest begins, and the next message wakes the loop immediately.
///
/// announce() may be called on the loop of any sender. All other functions may be called only on the receiver's loop.
class Collector final : public Source {
 public:
  /// `loop` is the receiver's loop. `rest` is the length of a rest, and so the longest time by which a rest can delay a
  /// message.
  Collector(EventLoop& loop, std::chrono::milliseconds rest) : loop_(loop), rest_(rest) {}

  /// Adds a source that empties the ring of an edge (QueueEdge::message_source). The source must outlive this object,
  /// and the loop must not poll it itself.
  void add(Source& messages) { edges_.push_back(&messages); }

  /// Tells the receiver that a new message is in a ring: wakes it, unless it rests and `urgent` is false. An urgent
  /// message ends the rest. The sender sets `urgent` when at least half of the edge's window is used, that is, half of
  /// the messages or bytes that may be in flight.
  void announce(bool urgent);

  bool poll() override;
  bool has_work() const override;

 private:
  bool resting() const { return resting_.load(std::memory_order_relaxed); }
  void rest();

  EventLoop& loop_;
  std::chrono::milliseconds rest_;
  std::vector<Source*> edges_;
  bool handled_ = false;  ///< True if the last round found messages.
  std::optional<EventLoop::TimerId> timer_;
  // On a separate cache line, because the senders read it for every message.
  alignas(64) std::atomic<bool> resting_{false};
};

}  // namespace trainyard::core
