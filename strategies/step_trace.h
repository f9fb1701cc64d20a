// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/spans/span_scope.h"

namespace trainyard {

/// A record of what a rank does and when, as a list of events. write() uses Chrome's trace format (a JSON array of
/// complete events), which chrome://tracing and Perfetto can show. Recording an event requires two readings of the
/// clock. All functions are thread-safe.
class StepTrace {
 public:
  using Clock = std::chrono::steady_clock;

  /// The maximum number of events. Later events are discarded, so that a long run does not fill the memory.
  static constexpr std::size_t kMostEvents = 100'000;

  /// `rank` is used as the process id of the events, so that the files of several ranks can be viewed together.
  explicit StepTrace(std::uint32_t rank) : rank_(rank) {}

  /// Adds an event, which lasts from `begin` to `end`. The times are on the clock CLOCK_MONOTONIC, which all ranks of a
  /// host share. `name` is shown on the event, and `lane` is the name of the event's row in the viewer, such as
  /// "compute" or "communication".
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

/// A guard that records one event, which lasts from the construction of the guard to its destruction: in `trace`,
/// unless that is null, and as a span, while somebody records spans (core/spans/span_scope.h). `name` is a literal. The
/// lane in `trace` is "communication" for SpanKind::kCollective and "compute" for all other kinds.
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
