// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "components/logger/append_file.h"

namespace trainyard {

/// Writes a table as comma-separated values (RFC 4180: a header line, line ends CR LF, quotes where needed).
///
/// If a later row has a new column, the column is added on the right: the whole file is rewritten, and earlier rows get
/// an empty cell. Rows are appended to an existing file, whose columns keep their order.
class CsvFile {
 public:
  /// Opens or creates the file, and removes an incomplete last line. Throws kIo if this fails.
  explicit CsvFile(std::string path);

  /// Sets the cell of the current row in the column `column`. `text` must not contain line ends. It is written
  /// unchanged, so the caller must use csv_quoted() if it can contain commas or quotes. If a cell is set twice, the
  /// first value is kept.
  void set(std::string_view column, std::string_view text);

  /// Ends the row. Cells that were not set are empty.
  void end_row();

  /// Writes the finished rows to the file. Throws kIo if this fails.
  void flush();

  /// Returns the names of the columns, in the order of the file.
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  std::size_t index_of(std::string_view column);
  // Writes the header, or rewrites the file with a header that contains the new columns. Throws kIo if this fails.
  void write_header_or_widen();

  std::string path_;
  std::optional<AppendFile> file_;
  std::vector<std::string> columns_;
  std::vector<std::string> cells_;  ///< The cells of the current row, one for each column. Their memory is reused.
  std::size_t columns_in_file_ = 0;
  /// The column that set() tries first, because the cells of all rows are usually set in the same order.
  std::size_t next_column_ = 0;
};

/// Returns `text` as a field of a CSV file, in quotes if necessary.
std::string csv_quoted(std::string_view text);

/// Returns the fields of the first row of `text`, which is in CSV format.
std::vector<std::string> csv_first_record(std::string_view text);

}  // namespace trainyard
