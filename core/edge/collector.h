// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "core/loop/event_loop.h"

namespace trainyard::core {

/// Empties the rings of several queue edges that end on one loop. It rests between two rounds, so that a steady stream
/// of messages is handled in batches.
///
/// Waking a sleeping thread costs the sender several microseconds, and costs the receiver more. A receiver that needs
/// only a few microseconds for a message falls asleep again before the next one, and would be woken for every message.
/// During a rest nobody wakes it: the loop's own timer ends the rest, and then everything that has arrived is handled.
/// Only a message that arrives after a rest in which there was none wakes the loop, immediately.
///
/// announce() may be called on the loop of any sender, everything else on the receiver's loop.
class Collector final : public Source {
 public:
  /// `rest` is the time between two rounds, and therefore the longest time for which a message waits before it is
  /// handled.
  Collector(EventLoop& loop, std::chrono::milliseconds rest) : loop_(loop), rest_(rest) {}

  /// Adds the source that empties the ring of an edge (QueueEdge::message_source), which must outlive this object. The
  /// loop must not poll the source itself.
  void add(Source& messages) { edges_.push_back(&messages); }

  /// Tells the receiver that there is a new message, which must already be in the ring. If `urgent` is true, a rest
  /// ends at once; a sender requests this before the ring is full.
  void announce(bool urgent);

  bool poll() override;
  bool has_work() const override;

 private:
  bool resting() const { return resting_.load(std::memory_order_relaxed); }
  void rest();

  EventLoop& loop_;
  std::chrono::milliseconds rest_;
  std::vector<Source*> edges_;
  bool handled_ = false;  ///< True if any message has been handled since the last rest.
  std::optional<EventLoop::TimerId> timer_;
  // The senders read it for every message.
  alignas(64) std::atomic<bool> resting_{false};
};

}  // namespace trainyard::core
