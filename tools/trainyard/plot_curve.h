// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/metrics_table.h"
#include "messages/words.h"

namespace trainyard::tools {

/// The quantity on the horizontal axis of a plot.
enum class PlotAxis : std::uint8_t { kStep, kTime, kSamples };
constexpr auto words_of(PlotAxis) { return words("axis", "step", "time", "samples"); }

/// A curve of a plot: points from left to right.
struct Curve {
  std::string name;
  std::vector<double> x;
  /// One value for each element of x. A value that is not finite interrupts the curve.
  std::vector<double> y;
};

/// Returns the curve of one series of a table of metrics. Steps that a resumed run has repeated appear only once, with
/// their newest values (archive::rows_in_effect). For PlotAxis::kTime, x is the number of seconds since `origin_ns`.
Curve curve_of(const archive::MetricsTable& table, const archive::Series& series, PlotAxis axis,
               std::int64_t origin_ns);

/// Returns the curve, smoothed with an exponential moving average. `factor`, from 0 to less than 1, is the weight of
/// the earlier values. The average is corrected for the bias at the beginning. Values that are not finite are not
/// changed, and do not influence the average.
Curve smoothed(const Curve& curve, double factor);

/// Returns a curve with fewer points that looks the same when it is drawn `columns` characters or pixels wide. The
/// range from `from` to `to` is divided into `columns` equal parts, and only about 4 points of each part remain: the
/// first, the smallest, the largest and the last.
Curve thinned(const Curve& curve, double from, double to, std::size_t columns);

}  // namespace trainyard::tools
