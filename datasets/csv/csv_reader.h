#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// A cell of a CSV file, with the place that errors name.
struct CsvCell {
  std::string_view text;     ///< Without quotes; valid until the next row is read.
  std::uint64_t offset = 0;  ///< Of its first byte in the file.
};

/// Takes CSV text (RFC 4180) apart, row by row: cells may be quoted, quoted cells may hold separators, line ends and
/// doubled quotes, lines end in LF or CRLF. Blank lines and a byte order mark are skipped.
class CsvReader {
 public:
  /// `text` outlives the reader; `path` is for errors.
  CsvReader(std::string_view text, std::string path, char separator);

  /// Takes the next row apart; false at the end. Throws kCorrupt for a quote that is never closed and for text behind a
  /// closing quote.
  bool next();

  std::span<const CsvCell> cells() const { return cells_; }
  std::uint64_t line() const { return row_line_; }      ///< That the row starts in, from 1.
  std::uint64_t offset() const { return row_offset_; }  ///< Of the row's first byte.

  /// "data.csv line 7 at offset 120": the row.
  std::string place() const { return place(row_offset_); }
  /// The same with the offset of something inside the row.
  std::string place(std::uint64_t offset) const;

 private:
  CsvCell plain_cell();
  CsvCell quoted_cell();
  /// Moves behind a line end if one is here; true at the end of the text, too.
  bool end_row();

  std::string_view text_;
  std::string path_;
  char separator_;
  std::size_t position_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t row_line_ = 1;
  std::uint64_t row_offset_ = 0;
  std::vector<CsvCell> cells_;
  std::deque<std::string> unquoted_;  ///< Texts of cells with doubled quotes; a deque does not move them.
};

}  // namespace trainyard
