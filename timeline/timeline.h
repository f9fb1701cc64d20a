// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "messages/spans.h"

namespace trainyard::timeline {

/// A span: something that a component did or waited for, with the times at which it began and ended. The texts are
/// valid as long as the Timeline that contains the span exists. Times are those of CLOCK_MONOTONIC.
struct Event {
  SpanKind kind = SpanKind::kHandler;
  std::string_view process, component, thread, name, peer;
  std::int32_t pid = 0;
  std::uint32_t rank = 0;
  std::uint32_t own_thread = 0;  ///< 0 for the event loop; otherwise the number of one of the component's own threads.
  std::uint64_t step = 0;        ///< 0 if the component did not know the step.
  std::uint64_t trace = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  std::int64_t length_ns() const { return end_ns - begin_ns; }
};

/// Identifies a batch: the rank of the data loader that sent the batch, and the number of the batch among all batches
/// of this data loader. The `trace` of an event contains both (docs/wire_format.md, section 4).
struct BatchNumber {
  std::uint32_t rank = 0;
  std::uint64_t batch = 0;
};
BatchNumber batch_of(std::uint64_t trace);

/// The spans of all processes of a run, in the order of their arrival. A span is something that a component did or
/// waited for, and is called an event here. The number of events is limited; when there are too many, the oldest are
/// dropped, together with the steps that are no longer complete.
class Timeline {
 public:
  static constexpr std::size_t kMostEvents = 1'000'000;
  /// The maximum number of different texts, such as the names of components and the descriptions of what they do. A run
  /// typically has a few dozen texts.
  static constexpr std::size_t kMostTexts = 10'000;

  explicit Timeline(std::size_t most_events = kMostEvents) : most_events_(most_events) {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Adds the spans of one message. Throws kCorrupt if an index or a time in the message is invalid, or if there are
  /// too many different texts.
  void add(const Spans& spans);

  const std::deque<Event>& events() const { return events_; }
  /// Returns the training steps of rank 0, by number. Steps of which an event of the same process may have been dropped
  /// are left out. Events of other processes may be missing from the first steps that remain.
  const std::map<std::uint64_t, Event>& steps() const { return steps_; }
  /// Returns the step to which a batch belongs, or 0 if it is not known.
  std::uint64_t step_of(std::uint64_t trace) const;
  /// Returns the traces of the batches of a step, ordered by rank, then by number.
  std::vector<std::uint64_t> batches_of(std::uint64_t step) const;
  /// Returns true if the timeline contains the span in which the data loader read the batch, and no event of the batch
  /// has been dropped since.
  bool was_read(std::uint64_t trace) const { return read_.contains(trace); }
  /// Returns how many spans were lost in the processes because they were recorded faster than they could be published.
  std::uint64_t lost() const;
  /// Returns how many events this object has dropped because there were too many.
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::string_view keep(const std::string& text);
  void index(const Event& event);
  void drop_oldest();
  bool is_cut(const Event& step) const;

  std::size_t most_events_;
  std::deque<Event> events_;
  std::set<std::string, std::less<>> texts_;  ///< The texts to which events refer. The elements of a set never move.
  std::map<std::uint64_t, Event> steps_;
  std::map<std::uint64_t, std::uint64_t> step_of_trace_;
  std::set<std::uint64_t> read_;
  std::map<std::int32_t, std::uint64_t> lost_;  ///< The number of lost spans, by process id.
  std::uint64_t dropped_ = 0;
  /// The latest end of a dropped event, by process.
  std::map<std::string_view, std::int64_t> dropped_until_ns_;
};

}  // namespace trainyard::timeline
