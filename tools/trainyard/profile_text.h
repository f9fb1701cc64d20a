// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "timeline/profile.h"

namespace trainyard::tools {

/// How the time of some steps was spent and, if they were recorded, the operations of LibTorch in some further steps.
struct ProfileReport {
  std::string run;
  timeline::Profile time;
  std::optional<timeline::Profile> operations;
};

/// Returns the report as tables. Lines have at most `width` characters, unless `width` is 0.
std::string text_of(const ProfileReport& report, bool bold, std::size_t width);

/// Returns the report for programs. All times are in nanoseconds; those of parts and operations are sums over the
/// steps.
nlohmann::ordered_json json_of(const ProfileReport& report);

}  // namespace trainyard::tools
