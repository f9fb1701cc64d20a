// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "messages/words.h"
#include "viewer/columns.h"

namespace trainyard::viewer {

/// What the horizontal axis of a curve shows.
enum class Axis : std::uint8_t { kStep, kTime, kSamples };
constexpr auto words_of(Axis) { return words("axis", "step", "time", "samples"); }

/// Specifies which part of a series a curve shows, and at which resolution.
struct CurveRequest {
  Axis axis = Axis::kStep;
  /// The window, in units of the axis. A missing value means that the window has no bound on this side.
  std::optional<double> from, to;
  std::size_t points = 1000;  ///< The maximum number of buckets.
  double smooth = 0;          ///< The weight of earlier values in the smoothed values, from 0 to less than 1.
  /// The origin of the axis kTime, in seconds since 1970. If it is empty, the origin is the time of the first row.
  std::optional<double> zero_time;
};

/// A series in a form that can be drawn. The window is divided into buckets of equal width, each of which combines its
/// rows. Buckets without rows are left out. If positions on the axis decrease anywhere from one row to the next, the
/// buckets have equal numbers of rows instead. A value is NaN if its bucket contains no finite value.
struct Curve {
  std::vector<double> x;                ///< The position on the axis of the last row in each bucket.
  std::vector<double> low, high, mean;  ///< The smallest and the largest value in each bucket, and the mean.
  /// The exponentially smoothed value at the last row of each bucket. Smoothing begins at the first row of the series,
  /// so the values do not depend on the window. They are corrected for the bias at the beginning of the series.
  std::vector<double> smooth;
  std::size_t rows = 0;     ///< The number of rows in the window that have a value.
  double from = 0, to = 0;  ///< The positions of the first and the last of these rows.
};

/// Returns the curve in the form that docs/viewer_protocol.md describes.
nlohmann::json json_of(const Curve& curve);

/// Computes a curve in one pass over the column. A million rows take a few milliseconds.
Curve curve_of(const Columns& columns, const Column& column, const CurveRequest& request);

}  // namespace trainyard::viewer
