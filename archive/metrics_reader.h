// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/metrics_table.h"

namespace trainyard::archive {

/// Limits on what is read from files with metrics, because the files are not trusted. Data beyond a limit is left out.
/// A table with too many columns, rows or cells is marked as `truncated`.
struct MetricsLimits {
  std::size_t tables = 64;           ///< The maximum number of tables; a run has one for each stage.
  std::size_t columns = 1024;        ///< The maximum number of metrics in one table.
  std::size_t rows = 10'000'000;     ///< The maximum number of rows in one table.
  std::size_t cells = 60'000'000;    ///< The maximum number of values in one table; each needs 12 bytes.
  std::size_t line_bytes = 1 << 20;  ///< The maximum length of a line. A longer line counts as damaged.
  /// If this is not 0, only about the last `tail_bytes` bytes of each file are read. This saves time if only the last
  /// values are needed.
  std::uint64_t tail_bytes = 0;
};

class MetricsSource;

/// Reads the metrics that the logger has written to an output directory: the files metrics_<stage>.csv, or
/// metrics.jsonl if there are no such files. update() can be called repeatedly while the run writes, and reads only
/// what is new.
class MetricsReader {
 public:
  /// `path` is an output directory, or one file with metrics. Nothing is read yet. Throws kNotFound if nothing exists
  /// at the path.
  explicit MetricsReader(std::string path, const MetricsLimits& limits = {});
  ~MetricsReader();
  MetricsReader(const MetricsReader&) = delete;
  MetricsReader& operator=(const MetricsReader&) = delete;

  /// Reads what has been written since the last call. Returns true if a table has changed. A file that was replaced is
  /// read again from its beginning; the logger replaces a file to add a column. Throws kIo if a file cannot be read,
  /// kInvalidArgument if it is not a regular file or not a table of metrics, and kCorrupt if its header is too long.
  bool update();

  /// Returns the tables, sorted by stage with "train" first. They stay valid until the next update().
  std::vector<const MetricsTable*> tables() const;
  /// Returns the table of a stage, or nullptr if there is none.
  const MetricsTable* find(std::string_view stage) const;

 private:
  void look_for_files();

  std::string path_;
  MetricsLimits limits_;
  std::vector<std::unique_ptr<MetricsSource>> sources_;
};

}  // namespace trainyard::archive
