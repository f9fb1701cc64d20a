// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "timeline/profile.h"

namespace trainyard::tools {

/// The report of `trainyard profile`: how the time of some steps was spent. It can also contain the times of LibTorch's
/// operations, which are recorded in separate steps because recording them takes time.
struct ProfileReport {
  std::string run;
  timeline::Profile time;
  std::optional<timeline::Profile> operations;
};

/// Returns the report as tables. Lines have at most `width` characters; 0 means no limit. `bold` makes the headings
/// bold with escape sequences.
std::string text_of(const ProfileReport& report, bool bold, std::size_t width);

/// Returns the report as JSON. All times are in nanoseconds. The parts of a component's time, and the times of
/// operations, are sums over all steps.
nlohmann::ordered_json json_of(const ProfileReport& report);

}  // namespace trainyard::tools
