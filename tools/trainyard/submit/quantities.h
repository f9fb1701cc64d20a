// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Reads a time: "2h30m", "90m", "45s", "1d12h", "02:30:00" or "1-00:00:00" (days, then hours, minutes and seconds). A
/// number without a unit is refused, because engines interpret it differently. Throws kInvalidArgument, naming
/// `option`, for any other text, for less than a second, and for more than a year.
std::chrono::seconds parse_time(std::string_view text, std::string_view option);

/// Reads an amount of memory, "512M", "64G" or "1T", in units of 1024, and returns mebibytes. Throws kInvalidArgument,
/// naming `option`, for any other text, for 0, and for more than 1024 TiB.
std::uint64_t parse_memory(std::string_view text, std::string_view option);

/// Returns a time as Slurm writes it: "02:30:00" or "1-00:00:00".
std::string slurm_time(std::chrono::seconds time);

}  // namespace trainyard::tools::submit
