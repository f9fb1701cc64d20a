// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::csv {

/// A cell of a CSV file, with the place that an error names.
struct Cell {
  std::string_view text;     ///< Without its quotes; valid until the next row is read.
  std::uint64_t offset = 0;  ///< Where the first byte of the cell is in the file.
};

/// Parses CSV text (RFC 4180), row by row. Cells may be quoted, and quoted cells may hold separators, line ends and
/// doubled quotes. Lines end in LF or CRLF. Blank lines and a byte order mark are skipped.
class Reader {
 public:
  /// The text must outlive the reader. Errors name the file by `path`.
  Reader(std::string_view text, std::string path, char separator);

  /// Parses the next row and returns true, or returns false at the end of the text. Throws kCorrupt for a quote that is
  /// never closed and for text behind a closing quote.
  bool next();

  std::span<const Cell> cells() const { return cells_; }
  std::uint64_t line() const { return row_line_; }      ///< The line in which the row starts, counted from 1.
  std::uint64_t offset() const { return row_offset_; }  ///< Where the first byte of the row is.

  /// Returns where the row is: "data.csv line 7 at offset 120".
  std::string place() const { return place(row_offset_); }
  /// Returns the same text, with the offset of something inside the row.
  std::string place(std::uint64_t offset) const;

 private:
  Cell plain_cell();
  Cell quoted_cell();
  /// Returns true at the end of a line, and moves past it, and at the end of the text.
  bool end_row();

  std::string_view text_;
  std::string path_;
  char separator_;
  std::size_t position_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t row_line_ = 1;
  std::uint64_t row_offset_ = 0;
  std::vector<Cell> cells_;
  std::deque<std::string> unquoted_;  ///< The texts of cells with doubled quotes; a deque does not move them.
};

}  // namespace trainyard::csv
