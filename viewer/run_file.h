// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "viewer/book.h"

namespace trainyard::viewer {

/// Reads a file that the logger writes into the output directory of a run, and enters its lines into the book of the
/// run, which holds everything that the viewer knows about the run. The file is `metrics.jsonl` (metrics, log records
/// and predictions) or `insights.jsonl` (histograms, confusion matrices and samples). read() can be called repeatedly
/// while the run writes, and reads only what is new. An item that the book already contains, because it has arrived as
/// a message, is not added again.
class RunFile {
 public:
  using OnMetrics = std::function<void(const Metrics&)>;

  /// Lines that are older than `from_ns`, in nanoseconds since 1970, are left out, because they belong to an earlier
  /// launch that used the same directory.
  RunFile(std::string path, std::int64_t from_ns = 0);
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  /// Reads at most about `bytes` bytes, and returns true if there is more to read at the moment. A file that does not
  /// exist yet, or that is not a regular file, counts as empty. Malformed lines are left out.
  ///
  /// `on_metrics` is called for every row of metrics that is new to the book.
  bool read(std::size_t bytes, Book& book, const OnMetrics& on_metrics = {});

  std::uint64_t damaged_lines() const { return damaged_; }

 private:
  bool open();
  void take_lines(Book& book, const OnMetrics& on_metrics);
  void take(std::string_view line, Book& book, const OnMetrics& on_metrics);

  std::string path_;
  std::int64_t from_ns_;
  int file_ = -1;
  std::string unread_;
  bool skipping_ = false;  ///< True in the middle of a line that is too long.
  std::uint64_t damaged_ = 0;
};

}  // namespace trainyard::viewer
