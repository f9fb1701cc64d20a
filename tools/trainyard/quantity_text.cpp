// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/quantity_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace trainyard::tools {
namespace {

/// Returns a number with four significant digits. Numbers from a thousand on are written without an exponent.
std::string number(double value) {
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

}  // namespace

std::string seconds_text(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 1 || size == 0) return number(seconds) + " s";
  if (size >= 1e-3) return number(seconds * 1e3) + " ms";
  if (size >= 1e-6) return number(seconds * 1e6) + " us";
  return number(seconds * 1e9) + " ns";
}

std::string bytes_text(double bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024) {
    bytes /= 1024;
    ++unit;
  }
  return number(bytes) + " " + kUnits[unit];
}

std::string hertz_text(double hertz) { return number(hertz) + " Hz"; }

}  // namespace trainyard::tools
