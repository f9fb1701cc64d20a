// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/plot_curve.h"

#include <algorithm>
#include <cmath>

namespace trainyard::tools {

Curve curve_of(const archive::MetricsTable& table, const archive::Series& series, PlotAxis axis,
               std::int64_t origin_ns) {
  const auto x_of = [&](std::size_t row) {
    switch (axis) {
      case PlotAxis::kStep:
        return static_cast<double>(table.steps[row]);
      case PlotAxis::kSamples:
        return static_cast<double>(table.samples[row]);
      case PlotAxis::kTime:
        break;
    }
    return static_cast<double>(table.times_ns[row] - origin_ns) / 1e9;
  };
  Curve curve{table.stage + "/" + series.name, {}, {}};
  const std::vector<bool> in_effect = archive::rows_in_effect(table);
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    if (!in_effect[series.rows[i]]) continue;
    curve.x.push_back(x_of(series.rows[i]));
    curve.y.push_back(series.values[i]);
  }
  return curve;
}

Curve smoothed(const Curve& curve, double factor) {
  Curve out = curve;
  double mean = 0, weight = 0;
  for (double& y : out.y) {
    if (!std::isfinite(y)) continue;
    mean = factor * mean + (1 - factor) * y;
    weight = factor * weight + (1 - factor);
    y = mean / weight;
  }
  return out;
}

namespace {

/// Collects the points of a curve that fall into one column of the picture, and returns only those that can be seen.
class ColumnOfPoints {
 public:
  void add(std::size_t index, const Curve& curve) {
    if (empty_) first_ = smallest_ = largest_ = index;
    empty_ = false;
    last_ = index;
    if (curve.y[index] < curve.y[smallest_]) smallest_ = index;
    if (curve.y[index] > curve.y[largest_]) largest_ = index;
  }

  void move_to(Curve& out, const Curve& from) {
    if (empty_) return;
    std::vector<std::size_t> seen{first_, smallest_, largest_, last_};
    std::ranges::sort(seen);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const std::size_t index : seen) {
      out.x.push_back(from.x[index]);
      out.y.push_back(from.y[index]);
    }
    empty_ = true;
  }

 private:
  bool empty_ = true;
  std::size_t first_ = 0, smallest_ = 0, largest_ = 0, last_ = 0;
};

}  // namespace

Curve thinned(const Curve& curve, double from, double to, std::size_t columns) {
  Curve out{curve.name, {}, {}};
  ColumnOfPoints points;
  const double scale = to > from ? static_cast<double>(columns) / (to - from) : 0;
  double column = -1;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const double here = std::floor((curve.x[i] - from) * scale);
    const bool gap = !std::isfinite(curve.y[i]);
    if (here != column || gap) points.move_to(out, curve);
    column = here;
    if (!gap) {
      points.add(i, curve);
    } else if (!out.y.empty() && std::isfinite(out.y.back())) {
      // A single point whose value is not finite interrupts the curve.
      out.x.push_back(curve.x[i]);
      out.y.push_back(curve.y[i]);
    }
  }
  points.move_to(out, curve);
  return out;
}

}  // namespace trainyard::tools
