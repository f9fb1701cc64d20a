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
/// Several launches can have written to one table. If a later launch began from the start or from a checkpoint, its
/// first steps are smaller than the last steps of the launch before it. rows_in_effect() leaves out what was repeated.
struct MetricsTable {
  std::string stage;
  std::vector<std::uint64_t> steps;    ///< One for each row, like the next two.
  std::vector<std::int64_t> times_ns;  ///< In nanoseconds since 1970.
  std::vector<std::uint64_t> samples;  ///< The number of samples that the run had trained on.
  std::vector<Series> series;          ///< In the order of the file; "epoch" and the units trained on are among them.
  std::uint64_t damaged_lines = 0;     ///< Complete lines that could not be understood, and were left out.
  bool torn = false;                   ///< True if the last line has no end yet, and was left out.
  bool truncated = false;              ///< True if a limit was reached, and what followed was left out.

  std::size_t rows() const { return steps.size(); }
  /// Returns the series of this name, or nullptr.
  const Series* find(std::string_view name) const;
};

/// Returns for each row whether it is part of the newest history: rows whose step a later launch reached again are not.
std::vector<bool> rows_in_effect(const MetricsTable& table);
/// Returns the same for rows with these steps.
std::vector<bool> rows_in_effect(const std::vector<std::uint64_t>& steps);

/// A value of a metric, and where it stands.
struct MetricPoint {
  double value = 0;
  std::uint64_t step = 0;
  std::int64_t time_ns = 0;
};

/// Whether small or large values of a metric are good.
enum class Wanted : std::uint8_t { kSmallest, kLargest };

/// Return the last value of the series, or the best one that is a finite number, among the rows in effect; nothing if
/// there is none.
std::optional<MetricPoint> last_point(const MetricsTable& table, const Series& series);
std::optional<MetricPoint> best_point(const MetricsTable& table, const Series& series, Wanted wanted);

}  // namespace trainyard::archive
