// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "core/loop/spsc_ring.h"
#include "messages/span_kind.h"

namespace trainyard {
class Component;
}  // namespace trainyard

namespace trainyard::core {

/// A span (a record of what a component did, and when) as the thread of an event loop writes it: 64 bytes, without text
/// of its own.
struct SpanRecord {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t trace = 0;
  std::uint64_t step = 0;
  /// What the span refers to, as WaitCause::packed(): for a handler or a hop, the component that sent the message; for
  /// a wait, what the component waited for, such as another component or the device. 0 if the span refers to nothing.
  std::uint64_t peer = 0;
  /// The name of the span, a text that is never freed; null for a handler without a message.
  const char* name = nullptr;
  const Component* component = nullptr;
  std::uint32_t own_thread = 0;
  SpanKind kind = SpanKind::kHandler;
};
static_assert(sizeof(SpanRecord) == 64);

/// A ring with the unpublished spans (records of what components did, and when) of one event loop. The loop's thread
/// writes it, and the control thread, which publishes spans, reads it. Writing takes no lock and allocates nothing.
/// When the ring is full, new spans are lost and counted.
class SpanRing {
 public:
  /// The number of spans that fit into the ring: enough for 300,000 spans per second if it is emptied every 50 ms.
  static constexpr std::size_t kCapacity = std::size_t{1} << 14;

  void push(SpanRecord span) {
    if (!spans_.push(std::move(span)))
      lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Removes the oldest span and stores it in `span`. Returns false if the ring is empty.
  bool pop(SpanRecord& span) { return spans_.pop(span); }
  /// Returns the number of spans that were lost since the ring was made. Any thread may call this.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  SpscRing<SpanRecord> spans_{kCapacity};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace trainyard::core
