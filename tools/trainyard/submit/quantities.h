// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Parses a duration such as "2h30m", "90m", "45s", "1d12h", "02:30:00" or "1-00:00:00" (days, then hours, minutes and
/// seconds). A number without a unit is not allowed, because its meaning differs between engines. Throws
/// kInvalidArgument, with the name `option`, if the text is malformed or if the duration is shorter than a second or
/// longer than a year.
std::chrono::seconds parse_time(std::string_view text, std::string_view option);

/// Parses an amount of memory such as "512M", "64G" or "1T", where the units are powers of 1024, and returns it in
/// mebibytes. Throws kInvalidArgument, with the name `option`, if the text is malformed, the amount is 0, or it is
/// greater than 1024 TiB.
std::uint64_t parse_memory(std::string_view text, std::string_view option);

/// Returns a duration in the form that Slurm uses, such as "02:30:00" or "1-00:00:00".
std::string slurm_time(std::chrono::seconds time);

}  // namespace trainyard::tools::submit
