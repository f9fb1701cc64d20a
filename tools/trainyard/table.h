#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::tools {

/// Rows of text in aligned columns, for people. The first row is the heading.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

  /// A row may have fewer cells than the heading.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// True if there is nothing but the heading.
  bool empty() const { return rows_.size() == 1; }

  /// One line a row, columns two spaces apart, no spaces at the end. `bold_heading`: with terminal colours. `width`:
  /// the last column goes on below itself where a line would be longer; 0 = lines are as long as they are.
  std::string text(bool bold_heading = false, std::size_t width = 0) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// True if stdout is a terminal and NO_COLOR is not set (https://no-color.org).
bool use_colours();

/// Columns of the terminal that stdout is; 0 if it is none, so that what is read by programs has one line a row.
std::size_t terminal_width();

}  // namespace trainyard::tools
