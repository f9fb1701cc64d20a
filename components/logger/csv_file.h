// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "components/logger/append_file.h"

namespace trainyard {

/// A table in a file of comma-separated values (RFC 4180: a header line, CR LF, quotes where needed).
///
/// A column that first appears in a later row is added on the right: the file is rewritten through a temporary file,
/// and earlier rows get an empty cell. An existing file is continued, and its columns keep their order.
class CsvFile {
 public:
  /// Opens or makes the file, and removes an incomplete last line. Throws kIo.
  explicit CsvFile(std::string path);

  /// Sets a cell of the current row. If a cell is set twice, the first value counts.
  void set(std::string_view column, std::string_view text);

  /// Ends the row. Cells that were not set are empty.
  void end_row();

  /// Passes the finished rows to the operating system. Throws kIo.
  void flush();

  /// Returns the names of the columns, in the order of the file.
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  std::size_t index_of(std::string_view column);
  // Adds the columns that the file's header lacks. Throws kIo.
  void write_header_or_widen();

  std::string path_;
  std::optional<AppendFile> file_;
  std::vector<std::string> columns_;
  std::vector<std::string> cells_;  ///< The cells of the current row, one for each column. Their memory is reused.
  std::size_t columns_in_file_ = 0;
  std::size_t next_column_ = 0;  ///< The likely column of the next name, because rows usually have the same order.
};

/// Returns the text as a field of a CSV file, in quotes if necessary.
std::string csv_quoted(std::string_view text);

/// Returns the fields of the first record of `text`.
std::vector<std::string> csv_first_record(std::string_view text);

}  // namespace trainyard
