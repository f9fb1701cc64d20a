// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/plot_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainyard::tools {
namespace {

/// Returns the smallest number of the form 1, 2 or 5 times a power of ten that is not less than `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    // Rounding may make the product slightly too small, so a small difference is tolerated.
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

PlotScale::PlotScale(double low, double high, bool logarithmic) : low_(low), high_(high), logarithmic_(logarithmic) {
  if (high_ > low_) return;
  if (logarithmic_) {
    low_ /= 2;
    high_ *= 2;
  } else {
    const double around = low_ == 0 ? 1 : std::abs(low_) * 0.1;
    low_ -= around;
    high_ += around;
  }
}

double PlotScale::position(double value) const {
  if (logarithmic_) return std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

std::vector<Tick> PlotScale::ticks(std::size_t about) const {
  about = std::max<std::size_t>(about, 1);
  return logarithmic_ ? logarithmic_ticks(about) : linear_ticks(about);
}

std::vector<Tick> PlotScale::linear_ticks(std::size_t about) const {
  const double step = round_step((high_ - low_) / static_cast<double>(about));
  std::vector<Tick> ticks;
  // Each tick is computed from its index, so that rounding errors do not accumulate.
  const double slack = step * 1e-9;
  for (double i = std::ceil((low_ - slack) / step); i * step <= high_ + slack && ticks.size() < 1000; ++i) {
    ticks.push_back({position(i * step), tick_label(i * step, step)});
  }
  return ticks;
}

// Puts ticks at powers of ten. If there are few of them in the range, adds ticks at 2 and 5 times powers of ten.
std::vector<Tick> PlotScale::logarithmic_ticks(std::size_t about) const {
  const double decades = std::log10(high_ / low_);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / static_cast<double>(about))));
  const bool few = decades * 1.5 < static_cast<double>(about);
  std::vector<Tick> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(low_))); power <= std::log10(high_); ++power) {
    if (power % stride != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, power);
      if ((factor > 1 && !few) || value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9)) continue;
      ticks.push_back({position(value), tick_label(value, value)});
    }
  }
  // If the range contains fewer than two such numbers, the ticks are those of a linear axis.
  if (ticks.size() < 2) {
    for (const double step = round_step((high_ - low_) / static_cast<double>(about));
         const Tick& tick : PlotScale(low_, high_).ticks(about)) {
      const double value = std::round((low_ + tick.position * (high_ - low_)) / step) * step;
      if (value > 0) ticks.push_back({position(value), tick.label});
    }
    std::ranges::sort(ticks, {}, &Tick::position);
    const auto twice = std::ranges::unique(ticks, {}, &Tick::label);
    ticks.erase(twice.begin(), twice.end());
  }
  return ticks;
}

std::string tick_label(double value, double distance) {
  if (std::abs(value) < distance * 1e-6) return "0";
  const double size = std::abs(value);
  if (size >= 1e12 || size < 1e-4) return fmt::format("{:g}", value);
  // Large numbers are shortened, as in "2M", if this loses no digits. Numbers of up to four digits are not shortened.
  for (const auto& [unit, letter] : {std::pair(1e9, "G"), std::pair(1e6, "M"), std::pair(1e3, "k")}) {
    const double shortened = value / unit;
    const double digits = std::round(shortened * 100) / 100;
    if (size >= unit && size >= 1e4 && std::abs(digits - shortened) * unit < distance * 0.01) {
      return fmt::format("{:g}{}", digits, letter);
    }
  }
  // The label has just enough decimal places to distinguish neighbouring ticks.
  const int places = std::clamp(static_cast<int>(std::ceil(-std::log10(distance) - 1e-9)), 0, 12);
  return fmt::format("{:.{}f}", value, places);
}

}  // namespace trainyard::tools
