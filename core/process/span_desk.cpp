// SPDX-License-Identifier: Apache-2.0
#include "core/process/span_desk.h"

#include <unistd.h>

#include "core/process/cause_name.h"

namespace trainyard::core {
namespace {

/// The name of the span of a hook or a task, for which there is no message.
constexpr const char* kTask = "task";

}  // namespace

SpanDesk::SpanDesk(EventLoop& control, const PlanView& plan, const ComponentHost& host, Publish publish)
    : control_(control), plan_(plan), host_(host), publish_(std::move(publish)) {
  for (const auto& [index, component] : host_.components()) {
    indices_[component] = static_cast<std::uint32_t>(sources_.size());
    const ComponentPlan& planned = plan_.component(index);
    sources_.push_back({.component = planned.name, .thread = planned.thread, .rank = planned.rank});
  }
}

SpanDesk::~SpanDesk() {
  control_.cancel(timer_);
  for (const auto& [thread, worker] : host_.workers()) worker->loop.activity().stop_recording();
}

void SpanDesk::want(bool spans, bool operations) {
  const bool was_on = spans_ || operations_;
  spans_ = spans;
  operations_ = operations;
  for (const auto& [thread, worker] : host_.workers()) worker->loop.activity().spans().want_operations(operations);
  if (was_on == (spans || operations)) return;
  record(!was_on);
  control_.cancel(timer_);
  if (was_on) return;
  lost_before_ = lost();
  schedule();
}

void SpanDesk::record(bool on) {
  for (const auto& [thread, worker] : host_.workers()) {
    LoopActivity& activity = worker->loop.activity();
    if (!on) {
      activity.stop_recording();
      continue;
    }
    // Spans that the loop has written after the end of the previous recording are discarded.
    SpanRecord old;
    while (activity.spans().ring() != nullptr && activity.spans().ring()->pop(old)) {
    }
    activity.start_recording();
    worker->loop.post([&activity] { activity.arrive(); });
  }
}

void SpanDesk::schedule() {
  timer_ = control_.after(kInterval, [this] {
    collect();
    schedule();
  });
}

// At most one full ring is read from each loop, so that a loop that keeps writing spans cannot keep the control thread
// busy.
void SpanDesk::collect() {
  Batch batches[2];
  for (const auto& [thread, worker] : host_.workers()) {
    SpanRing* ring = worker->loop.activity().spans().ring();
    SpanRecord record;
    for (std::size_t i = 0; ring != nullptr && i < SpanRing::kCapacity && ring->pop(record); ++i) {
      const bool operation = record.kind == SpanKind::kOperation;
      if (!(operation ? operations_ : spans_)) continue;
      Batch& batch = batches[operation ? 1 : 0];
      add(batch, record);
      if (batch.message.spans.size() == kMostSpans) publish(batch, operation);
    }
  }
  for (const bool operations : {false, true}) publish(batches[operations ? 1 : 0], operations);
}

void SpanDesk::publish(Batch& batch, bool operations) {
  if (batch.message.spans.empty()) return;
  batch.message.process = plan_.process();
  batch.message.pid = ::getpid();
  batch.message.sources = sources_;
  batch.message.lost = lost() - lost_before_;
  publish_(std::exchange(batch, {}).message, operations);
}

// Spans of the gateway, which is not in the plan, are discarded.
void SpanDesk::add(Batch& batch, const SpanRecord& record) const {
  const auto source = indices_.find(record.component);
  if (source == indices_.end()) return;
  const std::string peer =
      record.peer == 0 ? "" : name_of_cause(plan_, record.component->context().index, WaitCause::unpacked(record.peer));
  batch.message.spans.push_back({.kind = record.kind,
                                 .source = source->second,
                                 .name = index_of(batch, record.name == nullptr ? kTask : record.name),
                                 .peer = index_of(batch, peer),
                                 .own_thread = record.own_thread,
                                 .step = record.step,
                                 .trace = record.trace,
                                 .begin_ns = record.begin_ns,
                                 .end_ns = record.end_ns});
}

std::uint32_t SpanDesk::index_of(Batch& batch, const std::string& name) {
  const auto [entry, added] = batch.names.emplace(name, static_cast<std::uint32_t>(batch.message.names.size()));
  if (added) batch.message.names.push_back(name);
  return entry->second;
}

std::uint64_t SpanDesk::lost() const {
  std::uint64_t sum = 0;
  for (const auto& [thread, worker] : host_.workers()) {
    if (const SpanRing* ring = worker->loop.activity().spans().ring()) sum += ring->lost();
  }
  return sum;
}

}  // namespace trainyard::core
