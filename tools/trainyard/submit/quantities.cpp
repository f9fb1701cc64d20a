// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/quantities.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::tools::submit {
namespace {

constexpr std::uint64_t kDay = 24 * 60 * 60;
constexpr std::uint64_t kLongest = 365 * kDay;
constexpr std::uint64_t kMostMebibytes = std::uint64_t{1} << 30;

/// Removes a number from the beginning of the text and returns it. Numbers that are so large that the following
/// arithmetic could overflow are refused.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

/// Parses a duration such as "2h30m": numbers with units, where the largest unit comes first and no unit is repeated.
/// Returns the number of seconds.
std::optional<std::uint64_t> time_with_units(std::string_view text) {
  std::uint64_t seconds = 0;
  std::string_view units = "dhms";
  while (!text.empty()) {
    const auto number = take_number(text);
    const std::size_t unit = text.empty() ? units.npos : units.find(text.front());
    if (!number || unit == units.npos) return std::nullopt;
    const char letter = units[unit];
    seconds += *number * (letter == 'd' ? kDay : letter == 'h' ? 3600 : letter == 'm' ? 60 : 1);
    units.remove_prefix(unit + 1);
    text.remove_prefix(1);
  }
  return seconds;
}

/// Parses a duration such as "02:30:00" or "1-00:00:00". Returns the number of seconds.
std::optional<std::uint64_t> time_with_colons(std::string_view text) {
  std::uint64_t days = 0;
  if (text.find('-') != text.npos) {
    const auto number = take_number(text);
    if (!number || !take(text, '-')) return std::nullopt;
    days = *number;
  }
  const auto hours = take_number(text);
  if (!hours || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text);
  if (!minutes || *minutes > 59 || !take(text, ':')) return std::nullopt;
  const auto seconds = take_number(text);
  if (!seconds || *seconds > 59 || !text.empty()) return std::nullopt;
  return days * kDay + *hours * 3600 + *minutes * 60 + *seconds;
}

}  // namespace

std::chrono::seconds parse_time(std::string_view text, std::string_view option) {
  const auto seconds = text.find(':') == text.npos ? time_with_units(text) : time_with_colons(text);
  if (seconds && *seconds > 0 && *seconds <= kLongest) return std::chrono::seconds(*seconds);
  throw Error(Code::kInvalidArgument,
              "{} is '{}'; allowed: a time of at most a year, such as 2h30m, 90m, 02:30:00 or 1-00:00:00", option,
              printable_line(text));
}

std::uint64_t parse_memory(std::string_view text, std::string_view option) {
  std::string_view rest = text;
  constexpr std::string_view kUnits = "MGT";
  const auto number = take_number(rest);
  const std::size_t unit = rest.size() == 1 ? kUnits.find(rest.front()) : kUnits.npos;
  if (number && unit != kUnits.npos) {
    const std::uint64_t mebibytes = *number << (10 * unit);
    if (mebibytes > 0 && mebibytes <= kMostMebibytes) return mebibytes;
  }
  throw Error(Code::kInvalidArgument, "{} is '{}'; allowed: an amount of memory of at most 1024T, such as 512M or 64G",
              option, printable_line(text));
}

std::string slurm_time(std::chrono::seconds time) {
  const auto seconds = static_cast<std::uint64_t>(time.count());
  const std::string clock = fmt::format("{:02}:{:02}:{:02}", seconds % kDay / 3600, seconds % 3600 / 60, seconds % 60);
  return seconds < kDay ? clock : fmt::format("{}-{}", seconds / kDay, clock);
}

}  // namespace trainyard::tools::submit
