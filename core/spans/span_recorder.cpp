// SPDX-License-Identifier: Apache-2.0
#include "core/spans/span_recorder.h"

#include <algorithm>

#include "core/activity/sent_message.h"

namespace trainyard::core {

void SpanRecorder::start() {
  if (ring_ == nullptr) ring_ = std::make_unique<SpanRing>();
  recording_.store(ring_.get(), std::memory_order_release);
}

// Message types are static objects of plugins, which are never unloaded, so a pointer to the name of a type stays
// valid.
void SpanRecorder::open_handler(const Component& component, const Envelope* message, std::int64_t now) {
  if (++open_ > open_handlers_.size()) return;
  OpenHandler& handler = open_handlers_[open_ - 1];
  handler = {.begin_ns = now};
  if (message == nullptr) return;
  handler.trace = message->trace;
  if (message->type != nullptr) handler.name = message->type->name.c_str();
  if (names_its_sender(*message)) handler.peer = WaitCause{WaitKind::kMessage, message->source}.packed();
  if (!on()) return;
  record({.begin_ns = now - std::max<std::int64_t>(age_of(*message), 0),
          .end_ns = now,
          .trace = message->trace,
          .peer = handler.peer,
          .name = handler.name,
          .component = &component,
          .kind = SpanKind::kHop});
}

// A task begins without a trace but may have set one with EventLoop::set_trace(), for example before it sends a batch.
void SpanRecorder::close_handler(const Component* component, std::int64_t now) {
  if (open_-- > open_handlers_.size()) return;
  const OpenHandler& handler = open_handlers_[open_];
  record({.begin_ns = handler.begin_ns,
          .end_ns = now,
          .trace = handler.trace,
          .peer = handler.peer,
          .name = handler.name,
          .component = component,
          .kind = SpanKind::kHandler});
}

void SpanRecorder::record(SpanRecord span) {
  SpanRing* ring = recording_.load(std::memory_order_acquire);
  if (ring == nullptr || span.component == nullptr) return;
  if (span.trace == 0 && trace_ != nullptr) span.trace = *trace_;
  ring->push(span);
}

void SpanRecorder::record_wait(const Component* component, WaitCause cause, std::int64_t begin, std::int64_t end) {
  if (begin >= end || !on()) return;
  record({.begin_ns = begin,
          .end_ns = end,
          .peer = cause.packed(),
          .name = name_of(cause.kind).data(),
          .component = component,
          .kind = SpanKind::kWait});
}

}  // namespace trainyard::core
