// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/span_kind.h"

namespace trainyard::core {

class LoopActivity;

/// Records the time of a part of a handler as a span, for the timeline of a run (docs/timeline.md):
///
///    const core::SpanScope span(SpanKind::kUpdate, "update", step);
///    pass.run(...);
///
/// The span belongs to the component whose handler runs, and to the batch whose number is the event loop's current
/// trace. While no spans are recorded, a scope costs a call and a relaxed load. On a thread that runs no event loop, it
/// has no effect.
class SpanScope {
 public:
  /// `name` must exist as long as the process, as a literal does. `step` is the number of the step; 0 if it is not
  /// known.
  SpanScope(SpanKind kind, const char* name, std::uint64_t step = 0);
  ~SpanScope();
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

 private:
  LoopActivity* activity_;  // Null if spans were not recorded when the scope began.
  SpanKind kind_;
  const char* name_;
  std::uint64_t step_;
  std::int64_t begin_ns_ = 0;
};

/// A span that is recorded after it has ended, such as the work of one of the component's own threads. Its times are on
/// the clock of span_clock_ns().
struct EndedSpan {
  SpanKind kind = SpanKind::kOther;
  const char* name = "";  ///< Must exist as long as the process.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t step = 0;
  std::uint32_t own_thread = 0;  ///< Which of the component's own threads worked, counted from 1; 0 for the event loop.
};

/// Returns true while the spans of the calling thread are recorded. Always false on a thread that runs no event loop.
bool records_spans();
/// Returns true while the operations of LibTorch that the calling thread runs are recorded, too.
bool records_operations();
/// Records a span for the component whose handler is running. Call this on the component's event loop. Does nothing
/// while no spans are recorded.
void add_span(const EndedSpan& span);
/// Returns the time of CLOCK_MONOTONIC, the clock of all spans, in nanoseconds.
std::int64_t span_clock_ns();

}  // namespace trainyard::core
