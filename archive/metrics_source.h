// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/metrics_reader.h"
#include "archive/metrics_table.h"

namespace trainyard::archive {

/// A file with metrics, and the tables that were read from it.
class MetricsSource {
 public:
  virtual ~MetricsSource() = default;
  virtual const std::string& path() const = 0;
  /// Reads what was appended to the file since the last call. Returns true if a table has changed.
  virtual bool update() = 0;
  virtual std::vector<const MetricsTable*> tables() const = 0;
};

/// Makes a source that reads a file metrics_<stage>.csv, whose cells are numbers. If the file's name does not have this
/// form, the whole name is the stage.
std::unique_ptr<MetricsSource> make_csv_source(const std::string& path, const MetricsLimits& limits);

/// Makes a source that reads metrics.jsonl, which contains one JSON object on each line. Only lines whose key "kind" is
/// "metrics" are used.
std::unique_ptr<MetricsSource> make_jsonl_source(const std::string& path, const MetricsLimits& limits);

/// Fills a table row by row. Data beyond the limits is left out, and the table is then marked as `truncated`.
class TableFiller {
 public:
  TableFiller(std::string stage, const MetricsLimits& limits);

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// Returns the index of the series (the values of one metric) with this name, and adds the series if it is new.
  /// Returns kNone if there are too many series.
  std::size_t series(std::string_view name);
  /// Adds a row without values. `samples` is the number of samples that the run had trained on. Returns false if there
  /// are too many rows.
  bool add_row(std::uint64_t step, std::int64_t time_ns, std::uint64_t samples);
  /// Sets the value of a series in the row that was added last. Does nothing if `series` is kNone, if the row already
  /// has a value in this series, or if there are too many values.
  void set(std::size_t series, double value);

  MetricsTable& table() { return *table_; }
  const MetricsTable& table() const { return *table_; }

 private:
  std::unique_ptr<MetricsTable> table_;  ///< On the heap, so that its address stays the same.
  MetricsLimits limits_;
  std::size_t cells_ = 0;
  std::size_t next_ = 0;  ///< The index that series() tries first, because most rows name the series in the same order.
};

}  // namespace trainyard::archive
