// SPDX-License-Identifier: Apache-2.0
#include "viewer/curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace trainyard::viewer {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The horizontal axis of a curve: the position of each row, and whether the positions never decrease from one row to
/// the next.
struct Places {
  const std::vector<double>* values;
  double zero;
  bool ascend;

  double at(std::size_t row) const { return (*values)[row] - zero; }
};

double zero_time_of(const Columns& columns, const CurveRequest& request) {
  return request.zero_time.value_or(columns.rows() > 0 ? columns.times().front() : 0);
}

Places places_of(const Columns& columns, const CurveRequest& request) {
  if (request.axis == Axis::kTime) return {&columns.times(), zero_time_of(columns, request), true};
  if (request.axis == Axis::kSamples) return {&columns.samples(), 0, columns.samples_ascend()};
  return {&columns.steps(), 0, columns.steps_ascend()};
}

/// Combines the values of one bucket. end() appends the result to the curve, and begins the next bucket.
class Bucket {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
    sum_ += value;
    ++count_;
  }
  void end(double x, double smooth, Curve& curve) {
    curve.x.push_back(x);
    curve.low.push_back(count_ > 0 ? low_ : kNone);
    curve.high.push_back(count_ > 0 ? high_ : kNone);
    // Rounding could make the mean of equal values slightly smaller or larger than these values.
    curve.mean.push_back(count_ > 0 ? std::clamp(sum_ / static_cast<double>(count_), low_, high_) : kNone);
    curve.smooth.push_back(smooth);
    *this = {};
  }

 private:
  double low_ = kInfinity;
  double high_ = -kInfinity;
  double sum_ = 0;
  std::size_t count_ = 0;
};

/// An exponentially weighted mean. It is divided by the sum of the weights, which corrects the bias at the beginning.
class Smoother {
 public:
  explicit Smoother(double weight) : weight_(weight) {}

  /// `value` must be finite.
  void add(double value) {
    sum_ = weight_ * sum_ + (1 - weight_) * value;
    total_ = weight_ * total_ + (1 - weight_);
  }
  double value() const { return total_ > 0 ? sum_ / total_ : kNone; }

 private:
  double weight_;
  double sum_ = 0;
  double total_ = 0;
};

/// The rows that can be in the window: from `first` up to, but not including, `last`. If positions on the axis decrease
/// somewhere, these are all rows.
struct Window {
  std::size_t first = 0, last = 0;
};

Window window_of(const Places& places, const CurveRequest& request) {
  const std::vector<double>& values = *places.values;
  if (!places.ascend) return {0, values.size()};
  const auto begin = values.begin();
  const auto first = request.from ? std::lower_bound(begin, values.end(), *request.from + places.zero) : begin;
  const auto last = request.to ? std::upper_bound(first, values.end(), *request.to + places.zero) : values.end();
  return {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - begin)};
}

}  // namespace

nlohmann::json json_of(const Curve& curve) {
  return {{"x", curve.x},           {"low", curve.low},   {"high", curve.high}, {"mean", curve.mean},
          {"smooth", curve.smooth}, {"rows", curve.rows}, {"from", curve.from}, {"to", curve.to}};
}

Curve curve_of(const Columns& columns, const Column& column, const CurveRequest& request) {
  Curve curve;
  const Places places = places_of(columns, request);
  const Window window = window_of(places, request);
  if (window.first >= window.last) return curve;
  // The buckets have equal widths on the axis. If positions on the axis decrease somewhere, they have equal numbers of
  // rows instead.
  const double left = places.ascend ? places.at(window.first) : static_cast<double>(window.first);
  const double right = places.ascend ? places.at(window.last - 1) : static_cast<double>(window.last);
  const double scale = right > left ? static_cast<double>(request.points) / (right - left) : 0;
  const double last_bucket = static_cast<double>(request.points - 1);
  Smoother smoother(request.smooth);
  Bucket bucket;
  double number = -1, end_of_bucket = -kInfinity, x = 0, smooth = kNone;
  // Rows before the window are needed only for smoothing.
  for (std::size_t row = request.smooth > 0 ? 0 : window.first; row < window.last; ++row) {
    const double value = column.values[row];
    if (std::isfinite(value)) {
      smoother.add(value);
    } else if (is_absent(value)) {
      continue;
    }
    if (row < window.first) continue;
    const double here = places.at(row);
    if (!places.ascend && ((request.from && here < *request.from) || (request.to && here > *request.to))) continue;
    const double place = places.ascend ? here : static_cast<double>(row);
    // Most rows are in the same bucket as the previous row, so this comparison is usually false.
    if (place >= end_of_bucket) {
      if (curve.rows > 0) bucket.end(x, smooth, curve);
      number = std::min(std::max(std::floor((place - left) * scale), number + 1), last_bucket);
      end_of_bucket = number < last_bucket && scale > 0 ? left + (number + 1) / scale : kInfinity;
    }
    if (curve.rows++ == 0) curve.from = here;
    x = here;
    smooth = smoother.value();
    bucket.add(value);
  }
  if (curve.rows > 0) bucket.end(x, smooth, curve);
  curve.to = x;
  return curve;
}

}  // namespace trainyard::viewer
