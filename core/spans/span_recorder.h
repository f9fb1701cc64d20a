// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "core/activity/wait_cause.h"
#include "core/edge/envelope.h"
#include "core/spans/span_ring.h"

namespace trainyard::core {

/// Records what the components of one event loop do, and when, as spans in a ring. While the recording is off, a span
/// costs one load. All functions are called on the loop's thread, unless a comment names the control thread, which
/// publishes the spans.
class SpanRecorder {
 public:
  /// `trace` points to the variable in which the loop keeps the trace of the message that is being handled: the number
  /// of the batch that caused the message. If `trace` is null, the trace is always 0.
  explicit SpanRecorder(const std::uint64_t* trace) : trace_(trace) {}

  /// Begins to record. Called by the control thread.
  void start();
  /// Ends the recording. Called by the control thread.
  void stop() { recording_.store(nullptr, std::memory_order_relaxed); }
  /// Returns true while spans are recorded. Any thread may call this.
  bool on() const { return recording_.load(std::memory_order_relaxed) != nullptr; }

  /// Sets whether the operations of LibTorch are recorded, too. Called by the control thread.
  void want_operations(bool wanted) { operations_.store(wanted, std::memory_order_relaxed); }
  /// Returns true while the operations of LibTorch are recorded.
  bool operations() const { return on() && operations_.load(std::memory_order_relaxed); }

  /// Returns the ring with the recorded spans, or null if the recording has never been on. Only the control thread may
  /// call this.
  SpanRing* ring() const { return ring_.get(); }

  /// Called when a handler begins. Keeps the data for its span until close_handler() is called. Handlers can be nested.
  /// `message` is the message that is handled, or null for a hook or a task. `now` is the current time of
  /// span_clock_ns(). The time from the sending of the message until now is recorded as a separate span
  /// (SpanKind::kHop).
  void open_handler(const Component& component, const Envelope* message, std::int64_t now);
  /// Called when a handler of `component` ends. Records the span of the innermost handler that is open. `now` is the
  /// current time of span_clock_ns().
  void close_handler(const Component* component, std::int64_t now);

  /// Records a span. A span without a trace gets the trace of the loop; a span without a component is dropped.
  void record(SpanRecord span);
  /// Records that the component has waited for `cause` from `begin` to `end`. Does nothing if `end` is not later than
  /// `begin`.
  void record_wait(const Component* component, WaitCause cause, std::int64_t begin, std::int64_t end);

 private:
  struct OpenHandler {
    std::int64_t begin_ns = 0;
    std::uint64_t trace = 0;
    std::uint64_t peer = 0;
    const char* name = nullptr;
  };

  std::unique_ptr<SpanRing> ring_;  // Made when it is first needed, and kept, because the loop may still write into it.
  std::atomic<SpanRing*> recording_{nullptr};
  std::atomic<bool> operations_{false};
  const std::uint64_t* trace_;
  std::array<OpenHandler, 8> open_handlers_;  // Handlers that are nested deeper have no spans.
  std::size_t open_ = 0;
};

}  // namespace trainyard::core
