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

/// What reading metrics may cost, because the files may come from anybody. What lies beyond a limit is left out, and
/// the table says so (`truncated`).
struct MetricsLimits {
  std::size_t tables = 64;           ///< Stages of one run.
  std::size_t columns = 1024;        ///< Metrics of one table.
  std::size_t rows = 10'000'000;     ///< Rows of one table.
  std::size_t cells = 60'000'000;    ///< Values of one table; 12 bytes each.
  std::size_t line_bytes = 1 << 20;  ///< A longer line counts as damaged.
  /// If not 0, reading begins at most this far before the end of each file. Useful for the last values of many runs.
  std::uint64_t tail_bytes = 0;
};

class MetricsSource;

/// Reads the metrics that the logger has written to an output directory: the files metrics_<stage>.csv, or
/// metrics.jsonl if there are none. It can be asked again while the run writes, and then reads only what is new.
class MetricsReader {
 public:
  /// `path` is an output directory, or one of these files. Reads nothing yet. Throws kNotFound if there is nothing at
  /// the path.
  explicit MetricsReader(std::string path, const MetricsLimits& limits = {});
  ~MetricsReader();
  MetricsReader(const MetricsReader&) = delete;
  MetricsReader& operator=(const MetricsReader&) = delete;

  /// Reads what has been written since the last call. Returns true if a table has changed. A file that was replaced
  /// (the logger does so to add a column) is read again. Throws kIo if a file cannot be read, and kInvalidArgument for
  /// something that is not a regular file.
  bool update();

  /// Returns the tables, sorted by stage with "train" first. They stay valid until the next update().
  std::vector<const MetricsTable*> tables() const;
  /// Returns the table of a stage, or nullptr.
  const MetricsTable* find(std::string_view stage) const;

 private:
  void look_for_files();

  std::string path_;
  MetricsLimits limits_;
  std::vector<std::unique_ptr<MetricsSource>> sources_;
};

}  // namespace trainyard::archive
