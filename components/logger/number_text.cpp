// SPDX-License-Identifier: Apache-2.0
#include "components/logger/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace trainyard {

// Uses std::to_chars, which is exact, independent of the locale, and allocates no memory.
void append_exact(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";  // The sign of a NaN has no meaning.
    return;
  }
  char text[64];
  // So that a counter is not written as "2e+06".
  const bool whole = std::trunc(value) == value && std::abs(value) < 1e15;
  const auto end = whole ? std::to_chars(text, text + sizeof text, value, std::chars_format::fixed)
                         : std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

void append_exact(std::string& out, std::uint64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void append_seconds(std::string& out, std::int64_t time_ns) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
  append_exact(out, ns / 1'000'000'000);
  char digits[] = ".000000";
  auto micros = static_cast<unsigned>(ns / 1000 % 1'000'000);
  // Not converted to a double, which has too few digits for nanoseconds since 1970.
  for (int i = 6; i > 0; --i, micros /= 10) digits[i] = static_cast<char>('0' + micros % 10);
  out.append(digits, 7);
}

std::string significant(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];  // snprintf, because versions of fmt format "123456." differently with '#'.
  std::snprintf(text, sizeof text, "%#.6g", value);
  std::string out = text;
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::string scientific(double value) { return fmt::format("{:.2e}", value); }

std::string compact(double value) {
  constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  // The next unit begins at 999.5, because 999.95 thousands would be rounded to "1000.0k".
  while (std::abs(value) >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  // Small values keep a digit after the point: "0.5 samples/s".
  if (unit == 0) return value < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
  return fmt::format("{:.1f}{}", value, kUnits[unit]);
}

// Negative durations are shown as 0, because the estimated remaining time of the last step can be slightly negative.
std::string clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e9) return "--:--";
  const auto total = static_cast<std::uint64_t>(std::llround(std::max(seconds, 0.0)));
  const auto days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;
  // A duration of days is shown without seconds.
  if (days > 0) return fmt::format("{}d {:02}:{:02}", days, hours, minutes);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{:02}:{:02}", minutes, total % 60);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  const std::string number = compact(static_cast<double>(bytes));
  return fmt::format("{} {}B", number.substr(0, number.size() - 1), number.back());
}

}  // namespace trainyard
