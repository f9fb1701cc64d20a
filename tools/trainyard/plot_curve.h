// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/metrics_table.h"
#include "messages/words.h"

namespace trainyard::tools {

/// What the horizontal axis of a plot shows.
enum class PlotAxis : std::uint8_t { kStep, kTime, kSamples };
constexpr auto words_of(PlotAxis) { return words("axis", "step", "time", "samples"); }

/// A curve of a plot: points from left to right.
struct Curve {
  std::string name;
  std::vector<double> x;
  /// The vertical positions, one for each element of x. A value that is not finite interrupts the curve.
  std::vector<double> y;
};

/// Returns the curve of one series, over the rows in effect. `origin_ns` is where the axis of time begins; time is in
/// seconds.
Curve curve_of(const archive::MetricsTable& table, const archive::Series& series, PlotAxis axis,
               std::int64_t origin_ns);

/// Returns the curve smoothed with an exponential mean, where `factor` (0 to below 1) is the weight of what was before.
/// The mean is corrected for its beginning, where little was before. Values that are not finite stay, and do not enter
/// the mean.
Curve smoothed(const Curve& curve, double factor);

/// Returns the curve with at most about 4 points for each of `columns` equal parts of the range `from` to `to`: the
/// first, the smallest, the largest and the last. Drawn at that resolution, it looks the same.
Curve thinned(const Curve& curve, double from, double to, std::size_t columns);

}  // namespace trainyard::tools
