// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::archive {

/// The values of one metric in a table. Not every row of the table needs to have a value.
struct Series {
  std::string name;                 ///< The name of the metric, such as "loss".
  std::vector<std::uint32_t> rows;  ///< The indices of the rows that have a value, ascending.
  std::vector<double> values;       ///< The value in each of these rows; NaN and infinities are possible.
};

/// The metrics of one stage ("train", "validate", ...), in the order in which the logger received them.
///
/// Several launches can have written to one table. If a later launch began at step 0 or resumed from a checkpoint, it
/// may have repeated steps of the launch before it. rows_in_effect() tells which rows still count.
struct MetricsTable {
  std::string stage;
  std::vector<std::uint64_t> steps;  ///< The step of each row. The next two fields also have one element for each row.
  std::vector<std::int64_t> times_ns;  ///< The time of each row, in nanoseconds since 1970.
  std::vector<std::uint64_t> samples;  ///< For each row, the number of samples that the run had trained on.
  /// The columns of the table, in the order of the file. Besides metrics such as "loss", they include "epoch" and, if
  /// the run also counts another unit than samples, such as tokens, that count. Steps, times and samples are not among
  /// them, but in the fields above.
  std::vector<Series> series;
  std::uint64_t damaged_lines = 0;  ///< The number of complete lines that were left out because they are malformed.
  bool torn = false;                ///< True if the last line is incomplete. It was left out.
  bool truncated = false;           ///< True if data was left out because a limit was reached.

  std::size_t rows() const { return steps.size(); }
  /// Returns the series with this name, or nullptr if there is none.
  const Series* find(std::string_view name) const;
};

/// Returns, for each row, whether it is in effect. If a row has a smaller step than the row before it, a new launch
/// began there, and the earlier rows with the same or a larger step are not in effect.
std::vector<bool> rows_in_effect(const MetricsTable& table);
/// Does the same, given only the step of each row.
std::vector<bool> rows_in_effect(const std::vector<std::uint64_t>& steps);

/// A value of a metric, with its step and its time.
struct MetricPoint {
  double value = 0;
  std::uint64_t step = 0;
  std::int64_t time_ns = 0;
};

/// Whether the smallest or the largest value of a metric is the best.
enum class Wanted : std::uint8_t { kSmallest, kLargest };

/// last_point() returns the value of the series in the last row that has one, and best_point() returns its best finite
/// value. Both consider only the rows in effect, and return an empty optional if there is no such value.
std::optional<MetricPoint> last_point(const MetricsTable& table, const Series& series);
std::optional<MetricPoint> best_point(const MetricsTable& table, const Series& series, Wanted wanted);

}  // namespace trainyard::archive
