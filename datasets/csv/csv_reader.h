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

/// A cell of a CSV file, with its position for error messages.
struct Cell {
  std::string_view text;     ///< Without the enclosing quotes; valid until the next call of Reader::next().
  std::uint64_t offset = 0;  ///< The position in the file at which the text begins.
};

/// A parser for CSV text (RFC 4180) that reads one row at a time. Quoted cells can contain separators, line ends and
/// doubled quotes. Lines end in LF or CRLF. Blank lines and a byte order mark are skipped.
class Reader {
 public:
  /// `text` must outlive the reader. `path` names the file in error messages.
  Reader(std::string_view text, std::string path, char separator);

  /// Parses the next row and returns true, or returns false at the end of the text. Throws kCorrupt for a quote that is
  /// never closed, and for text between a closing quote and the next separator.
  bool next();

  /// Returns the cells of the row that next() parsed last.
  std::span<const Cell> cells() const { return cells_; }
  std::uint64_t line() const { return row_line_; }      ///< The line in which the row starts, counted from 1.
  std::uint64_t offset() const { return row_offset_; }  ///< The position of the row's first byte in the text.

  /// Returns the position of the row as text for error messages, such as "data.csv line 7 at offset 120".
  std::string place() const { return place(row_offset_); }
  /// Returns the same text with `offset`, a position inside the row, instead of the row's own offset.
  std::string place(std::uint64_t offset) const;

 private:
  Cell plain_cell();
  Cell quoted_cell();
  /// Returns true at the end of the text, or at a line end, which it skips. Otherwise returns false.
  bool end_row();

  std::string_view text_;
  std::string path_;
  char separator_;
  std::size_t position_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t row_line_ = 1;
  std::uint64_t row_offset_ = 0;
  std::vector<Cell> cells_;
  /// The texts of cells that had doubled quotes. A deque does not move its elements when it grows.
  std::deque<std::string> unquoted_;
};

}  // namespace trainyard::csv
