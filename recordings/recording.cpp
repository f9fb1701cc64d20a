// SPDX-License-Identifier: Apache-2.0
#include "recordings/recording.h"

#include <fmt/format.h>

#include <charconv>

#include "messages/error.h"

namespace trainyard::recordings {
namespace {

/// The prefixes of the two metadata keys that contain the counts of a topic, such as "arrived /metrics" and "missed
/// /metrics".
constexpr std::string_view kArrived = "arrived ", kMissed = "missed ";

std::uint64_t number_of(const std::string& key, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Error(Code::kCorrupt, "the recording says '{}' of '{}', where a number is expected", text, key);
  }
  return number;
}

}  // namespace

std::uint64_t Counts::arrived() const {
  std::uint64_t sum = 0;
  for (const auto& [topic, count] : topics) sum += count.arrived;
  return sum;
}

std::uint64_t Counts::missed() const {
  std::uint64_t sum = 0;
  for (const auto& [topic, count] : topics) sum += count.missed;
  return sum;
}

TextMap to_metadata(const Counts& counts) {
  TextMap map{{"state", counts.complete() ? "complete" : "INCOMPLETE"},
              {"arrived", fmt::to_string(counts.arrived())},
              {"missed", fmt::to_string(counts.missed())},
              {"ended", counts.ended},
              {"cut short", counts.cut_short}};
  for (const auto& [topic, count] : counts.topics) {
    map[std::string(kArrived) + topic] = fmt::to_string(count.arrived);
    map[std::string(kMissed) + topic] = fmt::to_string(count.missed);
  }
  return map;
}

Counts parse_counts(const TextMap& metadata) {
  Counts counts;
  for (const auto& [key, value] : metadata) {
    if (key.starts_with(kArrived)) counts.topics[key.substr(kArrived.size())].arrived = number_of(key, value);
    if (key.starts_with(kMissed)) counts.topics[key.substr(kMissed.size())].missed = number_of(key, value);
    if (key == "ended") counts.ended = value;
    if (key == "cut short") counts.cut_short = value;
  }
  return counts;
}

}  // namespace trainyard::recordings
