// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/spans/span_scope.h"

namespace trainyard {

/// Records what a rank did and when, as a list of events. write() uses Chrome's trace format (a JSON array of complete
/// events), which chrome://tracing and Perfetto can show. All functions are thread-safe.
class StepTrace {
 public:
  using Clock = std::chrono::steady_clock;

  /// The maximum number of events. Further events are discarded, so that a long run does not use up the memory.
  static constexpr std::size_t kMostEvents = 100'000;

  /// `rank` is used as the process id of the events, so that the files of several ranks can be viewed together.
  explicit StepTrace(std::uint32_t rank) : rank_(rank) {}

  /// Adds an event that lasted from `begin` to `end`. The times of all ranks of a host are comparable, because they are
  /// read from CLOCK_MONOTONIC. `name` is shown on the event, and `lane` is the name of the event's row in the viewer,
  /// such as "compute" or "communication".
  void add(const std::string& name, const std::string& lane, Clock::time_point begin, Clock::time_point end);

  /// Writes the events to the file `path`. Throws kIo if the file cannot be written.
  void write(const std::string& path) const;

 private:
  struct Event {
    std::string name, lane;
    Clock::time_point begin, end;
  };

  std::uint32_t rank_;
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

/// Records an event that lasts from the construction of this object to its destruction: in `trace`, unless it is null,
/// and as a span for `trainyard trace` while somebody listens to spans (core/spans/span_scope.h). `name` must be a
/// string literal; `step` is 0 if the number of the step is not known. The lane in `trace` is "communication" for
/// SpanKind::kCollective and "compute" for all other kinds.
class TraceSpan {
 public:
  TraceSpan(StepTrace* trace, const char* name, SpanKind kind, std::uint64_t step = 0)
      : span_(kind, name, step),
        trace_(trace),
        name_(name),
        lane_(kind == SpanKind::kCollective ? "communication" : "compute") {
    if (trace_ != nullptr) begin_ = StepTrace::Clock::now();
  }
  ~TraceSpan() {
    if (trace_ != nullptr) trace_->add(name_, lane_, begin_, StepTrace::Clock::now());
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  core::SpanScope span_;
  StepTrace* trace_;
  const char* name_;
  const char* lane_;
  StepTrace::Clock::time_point begin_;
};

}  // namespace trainyard
