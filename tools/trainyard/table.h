// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::tools {

/// Rows of text in aligned columns. The first row is the heading.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

  /// Adds a row, which may have fewer cells than the heading. Control characters in the cells become '?'.
  void add(std::vector<std::string> cells);
  /// Returns true if the table has no rows except the heading.
  bool empty() const { return rows_.size() == 1; }

  /// Returns the rows as lines of text, with two spaces between columns and no spaces at the end. `bold_heading` makes
  /// the heading bold with escape sequences. If `width` is not 0, text in the last column continues on further lines,
  /// so that lines have at most `width` characters.
  std::string text(bool bold_heading = false, std::size_t width = 0) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Returns true if stdout is a terminal and NO_COLOR is not set (https://no-color.org).
bool use_colours();

/// Returns the width of the terminal in characters, or 0 if stdout is not a terminal. With a width of 0, Table::text()
/// writes one line per row, which other programs can read.
std::size_t terminal_width();

}  // namespace trainyard::tools
