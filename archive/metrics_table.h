// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::archive {

/// The values of one metric. Not every row of a table has a value of every metric.
struct Series {
  std::string name;                 ///< As the component named it, such as "loss".
  std::vector<std::uint32_t> rows;  ///< The rows of the table that have a value, ascending.
  std::vector<double> values;       ///< The value in each of these rows; NaN and infinities are possible.
};

/// The metrics of one stage ("train", "validate", ...), in the order in which the logger received them.
///
/// Several launches can have written to one table. If a later launch started at an earlier step than the one at which
/// the launch before it ended, some steps occur twice. rows_in_effect() tells which rows were replaced in this way.
struct MetricsTable {
  std::string stage;
  std::vector<std::uint64_t> steps;    ///< The step of each row.
  std::vector<std::int64_t> times_ns;  ///< The time of each row, in nanoseconds since 1970.
  std::vector<std::uint64_t> samples;  ///< For each row, the number of samples that the run had trained on.
  /// The series, in the order of the file. The epoch and the units trained on (such as tokens) are series, too.
  std::vector<Series> series;
  std::uint64_t damaged_lines = 0;  ///< The number of complete lines that could not be parsed, and were left out.
  bool torn = false;                ///< True if the file ends within a line, which was left out.
  bool truncated = false;           ///< True if a limit was reached, so that further rows or columns were left out.

  std::size_t rows() const { return steps.size(); }
  /// Returns the series of this name, or nullptr.
  const Series* find(std::string_view name) const;
};

/// Returns for each row whether it is part of the newest history: rows whose step a later launch reached again are not.
std::vector<bool> rows_in_effect(const MetricsTable& table);
/// Returns the same for rows with these steps.
std::vector<bool> rows_in_effect(const std::vector<std::uint64_t>& steps);

/// A value of a metric, and the row that contains it.
struct MetricPoint {
  double value = 0;
  std::uint64_t step = 0;
  std::int64_t time_ns = 0;
};

/// Whether small or large values of a metric are good.
enum class Wanted : std::uint8_t { kSmallest, kLargest };

/// Return the last value of the series, or its best finite value. Only the rows in effect are considered. Return
/// nothing if there is no such value.
std::optional<MetricPoint> last_point(const MetricsTable& table, const Series& series);
std::optional<MetricPoint> best_point(const MetricsTable& table, const Series& series, Wanted wanted);

}  // namespace trainyard::archive
