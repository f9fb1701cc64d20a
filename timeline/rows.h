// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// A row in a picture of the timeline. A row shows the event loop of a component, one of the threads that a component
/// has started itself, or the steps of a rank. Steps have a separate row, because a step also covers the time between
/// handlers.
struct Row {
  std::int32_t pid = 0;
  std::string_view component;
  std::uint32_t own_thread = 0;
  bool steps = false;
  friend auto operator<=>(const Row&, const Row&) = default;
};

Row row_of(const Event& event);
/// Returns the row on which the messages of a component, sent or received, are shown.
Row row_of_messages(std::int32_t pid, std::string_view component);
/// Returns the name of the row to which an event belongs, such as "optimizer (thread main)".
std::string name_of_row(const Event& event);
/// Returns the label of an event on its row, such as "step 12".
std::string title_of(const Event& event);

}  // namespace trainyard::timeline
