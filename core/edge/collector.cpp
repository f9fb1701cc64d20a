// SPDX-License-Identifier: Apache-2.0
#include "core/edge/collector.h"

#include <algorithm>

namespace trainyard::core {

// The sender puts a message into the ring, executes a fence, and then checks whether the receiver rests. The receiver
// ends the rest, executes a fence (in Wakeup::prepare), and then looks into the ring before it sleeps. So the sender
// sees the end of the rest, or the receiver sees the message, or both.
void Collector::announce(bool urgent) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (resting()) {
    if (!urgent) return;
    resting_.store(false, std::memory_order_relaxed);
  }
  loop_.wake();
}

// A rest begins only when a round has found no messages, so that messages that arrive during a round are handled before
// the rest.
bool Collector::poll() {
  if (resting()) return false;
  bool worked = false;
  for (Source* edge : edges_) worked |= edge->poll();
  if (!worked && handled_) rest();
  handled_ = worked;
  return worked;
}

// If a sender has ended the previous rest early, the timer of that rest is still set.
void Collector::rest() {
  if (timer_) loop_.cancel(*timer_);
  resting_.store(true, std::memory_order_relaxed);
  timer_ = loop_.after(rest_, [this] {
    timer_.reset();
    resting_.store(false, std::memory_order_relaxed);
  });
}

bool Collector::has_work() const {
  return !resting() && std::ranges::any_of(edges_, [](const Source* edge) { return edge->has_work(); });
}

}  // namespace trainyard::core
