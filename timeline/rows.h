// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// A row of a picture of the timeline: the event loop of a component, one of its own threads, or the steps of a rank,
/// which contain the time between handlers as well.
struct Row {
  std::int32_t pid = 0;
  std::string_view component;
  std::uint32_t own_thread = 0;
  bool steps = false;
  friend auto operator<=>(const Row&, const Row&) = default;
};

Row row_of(const Event& event);
/// Returns the row on which messages to and from a component are shown.
Row row_of_messages(std::int32_t pid, std::string_view component);
/// Returns what the row of an event is called, such as "optimizer (thread main)".
std::string name_of_row(const Event& event);
/// Returns what an event is called on its row, such as "step 12".
std::string title_of(const Event& event);

}  // namespace trainyard::timeline
