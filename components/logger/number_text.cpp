// SPDX-License-Identifier: Apache-2.0
#include "components/logger/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace trainyard {

// Files use std::to_chars, which is exact and needs no locale and no allocation. The text for the console is formatted
// by fmt and C.
void append_exact(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";  // The sign of such a value means nothing.
    return;
  }
  char text[64];
  const bool whole = std::trunc(value) == value && std::abs(value) < 1e15;  // Counters should not read "2e+06".
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
  // The digits are written by hand, because a double has too few for nanoseconds since 1970.
  for (int i = 6; i > 0; --i, micros /= 10) digits[i] = static_cast<char>('0' + micros % 10);
  out.append(digits, 7);
}

std::string significant(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];  // C's '#' is the same everywhere; versions of fmt differ in what follows the point of "123456.".
  std::snprintf(text, sizeof text, "%#.6g", value);
  std::string out = text;
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::string scientific(double value) { return fmt::format("{:.2e}", value); }

std::string compact(double value) {
  constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  // 999.95 would round to "1000.0k", so the next unit begins early enough that this never appears.
  while (std::abs(value) >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  // Small rates keep a digit after the point: "0.5 samples/s".
  if (unit == 0) return value < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
  return fmt::format("{:.1f}{}", value, kUnits[unit]);
}

// The result is rounded and never negative: at the last step, the computed remaining time may be a little below zero.
std::string clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e9) return "--:--";
  const auto total = static_cast<std::uint64_t>(std::llround(std::max(seconds, 0.0)));
  const auto days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;
  // Seconds do not matter when the time is days.
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
