// SPDX-License-Identifier: Apache-2.0
#include "timeline/rows.h"

#include <fmt/format.h>

#include "timeline/batch_path.h"

namespace trainyard::timeline {

Row row_of(const Event& event) { return {event.pid, event.component, event.own_thread, event.kind == SpanKind::kStep}; }

Row row_of_messages(std::int32_t pid, std::string_view component) { return {.pid = pid, .component = component}; }

std::string name_of_row(const Event& event) {
  if (event.kind == SpanKind::kStep) return fmt::format("{}: steps", event.component);
  if (event.own_thread != 0) return fmt::format("{}: own thread {}", event.component, event.own_thread);
  return event.component == event.thread ? std::string(event.component)
                                         : fmt::format("{} (thread {})", event.component, event.thread);
}

std::string title_of(const Event& event) {
  return event.kind == SpanKind::kStep ? fmt::format("step {}", event.step) : words_for(event);
}

}  // namespace trainyard::timeline
