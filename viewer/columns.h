// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/metrics.h"

namespace trainyard::viewer {

/// The values of one metric: one value for each row of the stage to which the metric belongs.
struct Column {
  std::string name;
  std::vector<double> values;  ///< The values; absent() for a row that has no value of this metric.
  std::size_t present = 0;     ///< The number of rows that have a value.
};

/// Returns the number that stands for a missing value. It is a NaN with a special bit pattern, which arithmetic does
/// not produce.
double absent();
bool is_absent(double value);

/// All metrics of one stage, such as "train", ordered by time. Each metric has a separate column, so that drawing a
/// curve reads only the data of that curve.
///
/// The same row can come from two sources: a message and a file. Two rows count as the same if they have the same step
/// and the same time in microseconds, which is the precision of times in the files.
class Columns {
 public:
  /// The maximum number of rows. When there are more, every second row is dropped.
  static constexpr std::size_t kMaxRows = 2'000'000;
  /// The maximum number of metrics; further metrics are ignored. The names come from untrusted sources, so their number
  /// must be limited.
  static constexpr std::size_t kMaxMetrics = 256;

  /// Adds a row. Returns false if the row is already present. Adding rows in the order of their times is fast; an older
  /// row is inserted where it belongs.
  bool add(const Metrics& metrics);

  /// Removes the rows whose steps a later launch has repeated (archive::rows_in_effect).
  void drop_repeated_steps();

  std::size_t rows() const { return steps_.size(); }
  const std::vector<double>& steps() const { return steps_; }
  const std::vector<double>& times() const { return times_; }  ///< In seconds since 1970.
  const std::vector<double>& samples() const { return samples_; }
  const std::vector<Column>& metrics() const { return columns_; }
  const Column* find(std::string_view name) const;
  /// Returns true if the steps never decrease from one row to the next. They decrease if a later launch began at an
  /// earlier step.
  bool steps_ascend() const { return steps_ascend_; }
  bool samples_ascend() const { return samples_ascend_; }

 private:
  Column* column(const std::string& name);
  void insert_at(std::size_t row, const Metrics& metrics, std::int64_t time_us);
  /// Removes the rows for which `rows` contains false.
  void keep(const std::vector<bool>& rows);
  void thin();

  std::vector<double> steps_;
  std::vector<std::int64_t> times_us_;
  std::vector<double> times_;
  std::vector<double> samples_;
  std::vector<Column> columns_;
  bool steps_ascend_ = true;
  bool samples_ascend_ = true;
};

}  // namespace trainyard::viewer
