// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/metrics.h"

namespace trainyard::viewer {

/// The values of one metric, one for each row of its stage.
struct Column {
  std::string name;
  std::vector<double> values;  ///< The values; absent() for a row that has no value of this metric.
  std::size_t present = 0;     ///< The number of rows that have a value.
};

/// Returns the value that stands for "not reported". It is a NaN, but not one that arithmetic produces.
double absent();
bool is_absent(double value);

/// All metrics of one stage, such as "train", in the order of their times. One column holds one metric, so that a curve
/// reads only what it shows.
///
/// The same row can come from two sources, a message and a file. Rows are told apart by their step and their time in
/// microseconds, which is how exact the files are.
class Columns {
 public:
  /// The maximum number of rows. When there are more, every second row is removed.
  static constexpr std::size_t kMaxRows = 2'000'000;
  /// The maximum number of metrics. Further metrics are ignored; the limit is needed because the names come from
  /// strangers.
  static constexpr std::size_t kMaxMetrics = 256;

  /// Adds a row. Returns false if the row exists already. Rows usually come in order, which is fast; a late row is
  /// inserted at its place.
  bool add(const Metrics& metrics);

  /// Removes the rows that a later launch has replaced (archive::rows_in_effect).
  void drop_repeated_steps();

  std::size_t rows() const { return steps_.size(); }
  const std::vector<double>& steps() const { return steps_; }
  const std::vector<double>& times() const { return times_; }  ///< In seconds since 1970.
  const std::vector<double>& samples() const { return samples_; }
  const std::vector<Column>& metrics() const { return columns_; }
  const Column* find(std::string_view name) const;
  /// Returns true if the step never becomes smaller from one row to the next. It does if a run was started again from
  /// an earlier step.
  bool steps_ascend() const { return steps_ascend_; }
  bool samples_ascend() const { return samples_ascend_; }

 private:
  Column* column(const std::string& name);
  void insert_at(std::size_t row, const Metrics& metrics, std::int64_t time_us);
  /// Keeps only these rows.
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
