#pragma once

#include <string>
#include <vector>

namespace trainyard {

/// Rows of text in aligned columns, for people. The first row is the heading.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

  /// A row may have fewer cells than the heading.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// True if there is nothing but the heading.
  bool empty() const { return rows_.size() == 1; }

  /// One line a row, columns two spaces apart, no spaces at the end. `bold_heading`: with terminal colours.
  std::string text(bool bold_heading = false) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// True if stdout is a terminal and NO_COLOR is not set (https://no-color.org).
bool use_colours();

}  // namespace trainyard
