// SPDX-License-Identifier: Apache-2.0
#include "timeline/timeline.h"

#include <algorithm>

#include "messages/error.h"

namespace trainyard::timeline {
namespace {

/// Longer texts are cut off at this length, which is enough for any sensible name.
constexpr std::size_t kMostTextBytes = 200;

template <class T>
const T& at(const std::vector<T>& list, std::uint32_t index, const char* what) {
  if (index < list.size()) return list[index];
  throw Error(Code::kCorrupt, "a message of spans refers to {} {}, and has {}", what, index, list.size());
}

/// Returns true for the kinds of spans whose step is the step of the batch in `trace`. A checkpoint, for instance, is
/// written during a later step.
bool tells_step(SpanKind kind) {
  return kind == SpanKind::kStep || kind == SpanKind::kForward || kind == SpanKind::kUpdate;
}

}  // namespace

BatchNumber batch_of(std::uint64_t trace) {
  constexpr int kRankShift = 48;
  const auto rank = static_cast<std::uint32_t>(trace >> kRankShift);
  return {.rank = rank == 0 ? 0 : rank - 1, .batch = trace & ((std::uint64_t{1} << kRankShift) - 1)};
}

void Timeline::add(const Spans& spans) {
  const std::string_view process = keep(spans.process);
  for (const Span& span : spans.spans) {
    const SpanSource& source = at(spans.sources, span.source, "component");
    if (span.begin_ns < 0 || span.end_ns < span.begin_ns) {
      throw Error(Code::kCorrupt, "a message of spans has a span from {} ns to {} ns", span.begin_ns, span.end_ns);
    }
    events_.push_back({.kind = span.kind,
                       .process = process,
                       .component = keep(source.component),
                       .thread = keep(source.thread),
                       .name = keep(at(spans.names, span.name, "name")),
                       .peer = keep(at(spans.names, span.peer, "name")),
                       .pid = spans.pid,
                       .rank = source.rank,
                       .own_thread = span.own_thread,
                       .step = span.step,
                       .trace = span.trace,
                       .begin_ns = span.begin_ns,
                       .end_ns = span.end_ns});
    index(events_.back());
  }
  lost_[spans.pid] = spans.lost;
  while (events_.size() > most_events_) drop_oldest();
}

/// Returns true if an event of the same process that may belong to the step has been dropped.
bool Timeline::is_cut(const Event& step) const {
  const auto until = dropped_until_ns_.find(step.process);
  return until != dropped_until_ns_.end() && until->second > step.begin_ns;
}

/// Drops the oldest event, and what the maps by step and by batch would otherwise still claim to be complete. Only
/// times of the same process are compared, because each host has a clock of its own.
void Timeline::drop_oldest() {
  const Event& oldest = events_.front();
  if (oldest.trace != 0) read_.erase(oldest.trace);
  if (tells_step(oldest.kind)) step_of_trace_.erase(oldest.trace);
  std::int64_t& until = dropped_until_ns_[oldest.process];
  until = std::max(until, oldest.end_ns);
  while (!steps_.empty() && is_cut(steps_.begin()->second)) steps_.erase(steps_.begin());
  events_.pop_front();
  ++dropped_;
}

/// Adds the event to the maps by step and by batch. If a map becomes too large, drops the smallest numbers, because
/// they are the oldest.
void Timeline::index(const Event& event) {
  if (event.kind == SpanKind::kStep && event.rank == 0 && !is_cut(event)) steps_[event.step] = event;
  if (event.kind == SpanKind::kRead && event.trace != 0) read_.insert(event.trace);
  if (event.trace != 0 && event.step != 0 && tells_step(event.kind)) step_of_trace_[event.trace] = event.step;
  while (steps_.size() > most_events_) steps_.erase(steps_.begin());
  while (read_.size() > most_events_) read_.erase(read_.begin());
  while (step_of_trace_.size() > most_events_) step_of_trace_.erase(step_of_trace_.begin());
}

std::uint64_t Timeline::step_of(std::uint64_t trace) const {
  const auto known = step_of_trace_.find(trace);
  return known == step_of_trace_.end() ? 0 : known->second;
}

std::vector<std::uint64_t> Timeline::batches_of(std::uint64_t step) const {
  std::vector<std::uint64_t> traces;
  for (const auto& [trace, of_step] : step_of_trace_) {
    if (of_step == step) traces.push_back(trace);
  }
  return traces;
}

std::uint64_t Timeline::lost() const {
  std::uint64_t sum = 0;
  for (const auto& [pid, lost] : lost_) sum += lost;
  return sum;
}

std::string_view Timeline::keep(const std::string& text) {
  const std::string_view wanted = std::string_view(text).substr(0, kMostTextBytes);
  const auto known = texts_.find(wanted);
  if (known != texts_.end()) return *known;
  if (texts_.size() >= kMostTexts) {
    throw Error(Code::kCorrupt, "the spans contain more than {} different names", kMostTexts);
  }
  return *texts_.emplace(wanted).first;
}

}  // namespace trainyard::timeline
