// SPDX-License-Identifier: Apache-2.0
#include "archive/metrics_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::archive {

const Series* MetricsTable::find(std::string_view name) const {
  const auto found = std::ranges::find(series, name, &Series::name);
  return found == series.end() ? nullptr : &*found;
}

// Goes through the rows from the last to the first. If a row has a larger step than the row after it, a later launch
// began between the two rows. Of the rows before that point, those with a step at or after the launch's first step are
// not in effect.
std::vector<bool> rows_in_effect(const std::vector<std::uint64_t>& steps) {
  std::vector<bool> in_effect(steps.size(), true);
  std::uint64_t bound = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t row = steps.size(); row-- > 0;) {
    const bool falls = row + 1 < steps.size() && steps[row + 1] < steps[row];
    if (falls) bound = std::min(bound, steps[row + 1]);
    in_effect[row] = steps[row] < bound;
  }
  return in_effect;
}

std::vector<bool> rows_in_effect(const MetricsTable& table) { return rows_in_effect(table.steps); }

namespace {

MetricPoint point_at(const MetricsTable& table, const Series& series, std::size_t i) {
  const std::uint32_t row = series.rows[i];
  return {series.values[i], table.steps[row], table.times_ns[row]};
}

}  // namespace

std::optional<MetricPoint> last_point(const MetricsTable& table, const Series& series) {
  const std::vector<bool> in_effect = rows_in_effect(table);
  for (std::size_t i = series.rows.size(); i-- > 0;) {
    if (in_effect[series.rows[i]]) return point_at(table, series, i);
  }
  return std::nullopt;
}

std::optional<MetricPoint> best_point(const MetricsTable& table, const Series& series, Wanted wanted) {
  const std::vector<bool> in_effect = rows_in_effect(table);
  std::optional<MetricPoint> best;
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    const double value = series.values[i];
    if (!in_effect[series.rows[i]] || !std::isfinite(value)) continue;
    const bool better = !best || (wanted == Wanted::kSmallest ? value < best->value : value > best->value);
    if (better) best = point_at(table, series, i);
  }
  return best;
}

}  // namespace trainyard::archive
