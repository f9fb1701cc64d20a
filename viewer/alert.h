// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "messages/words.h"

namespace trainyard::viewer {

/// The kind of problem to which an alert draws attention. rules.h describes when an alert of each kind is raised.
enum class AlertKind : std::uint8_t { kNan, kSpike, kPlateau, kSlowRank, kDisk, kDropped };
constexpr auto words_of(AlertKind) {
  return words("kind of alert", "nan", "spike", "plateau", "slow rank", "disk", "dropped");
}
enum class Severity : std::uint8_t { kWarning, kError };
constexpr auto words_of(Severity) { return words("severity", "warning", "error"); }

/// A message that draws attention to a possible problem of a run, such as a loss that is not a number.
struct Alert {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  AlertKind kind = AlertKind::kNan;
  Severity severity = Severity::kWarning;
  std::string text;
};

nlohmann::json json_of(const Alert& alert);

}  // namespace trainyard::viewer
