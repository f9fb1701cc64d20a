// SPDX-License-Identifier: Apache-2.0
#include "core/edge/local_edge.h"

#include "core/loop/event_loop.h"

namespace trainyard::core {

LocalEdge::LocalEdge(OutputBase& output, InputBase& input, EventLoop& loop, std::uint32_t id, Policy policy,
                     std::uint64_t window_messages, std::uint64_t window_bytes)
    : Edge(output, id, policy, window_messages, window_bytes), input_(input), loop_(loop) {}

// The message goes into the queue and is not handled immediately, because otherwise one handler would run inside
// another.
void LocalEdge::transmit(const Envelope& envelope) {
  messages_.store(messages() + 1, std::memory_order_relaxed);
  bytes_ += envelope.bytes;
  loop_.enqueue({&input_, envelope, this});
}

void LocalEdge::consumed(const Envelope& envelope) {
  const bool had_room = has_room();
  messages_.store(messages() - 1, std::memory_order_relaxed);
  bytes_ -= envelope.bytes;
  // Normally there was room before and no message waits, so nothing needs to be done.
  if (!had_room || waiting() != 0) on_room();
}

}  // namespace trainyard::core
