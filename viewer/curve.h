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

/// Which part of a series a curve shows, and with which resolution.
struct CurveRequest {
  Axis axis = Axis::kStep;
  std::optional<double> from, to;  ///< The window, in units of the axis. An end without a value is open.
  std::size_t points = 1000;       ///< The maximum number of buckets.
  double smooth = 0;               ///< The weight of the past in the smoothed values, from 0 to less than 1.
  /// The time at which the axis kTime begins, in seconds since 1970. If it is empty, the axis begins at the first row.
  std::optional<double> zero_time;
};

/// A series as it can be drawn: the rows of the window, in buckets of equal width. A bucket without rows does not
/// exist. A value is NaN if its bucket has no finite value.
struct Curve {
  std::vector<double> x;  ///< The position on the axis of the last row of each bucket.
  std::vector<double> low, high, mean;
  /// The exponentially smoothed value after the last row of each bucket. It is computed from the first row of the
  /// series on, so it does not depend on the window, and is corrected for its start, where few values are known.
  std::vector<double> smooth;
  std::size_t rows = 0;     ///< The number of rows in the window that have a value.
  double from = 0, to = 0;  ///< The positions on the axis of the first and the last of these rows.
};

/// Returns a curve as docs/viewer_protocol.md describes it.
nlohmann::json json_of(const Curve& curve);

/// Computes a curve with one pass over the column. Its time is a few milliseconds for a million rows.
Curve curve_of(const Columns& columns, const Column& column, const CurveRequest& request);

}  // namespace trainyard::viewer
