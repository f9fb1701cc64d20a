// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "messages/printable.h"

namespace trainyard::tools {

namespace {

/// If the last column has fewer characters than this, its text is not wrapped, and the terminal may break the lines.
constexpr std::size_t kNarrowest = 16;

/// Breaks `text` between words into lines of at most `width` bytes. All lines except the first are indented by `indent`
/// spaces.
std::string folded(const std::string& text, std::size_t indent, std::size_t width) {
  if (width < indent + kNarrowest) return text;
  std::string lines;
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    }
    lines += (column > indent ? " " : "") + word;
    column += (column > indent ? 1 : 0) + word.size();
  }
  return lines;
}

}  // namespace

// Control characters are replaced, because names may come from files and programs of other users.
void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable_line(cell);
  rows_.push_back(std::move(cells));
}

// Widths are counted in bytes, because names and numbers in tables are ASCII.
std::string Table::text(bool bold_heading, std::size_t width) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string all;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == widths.size();
      line += width != 0 && last ? folded(row[i], line.size(), width) : row[i];
      line.append(widths[i] - row[i].size() + 2, ' ');
    }
    // Trailing spaces are removed, so that outputs can be compared line by line.
    line.erase(line.find_last_not_of(' ') + 1);
    const bool bold = bold_heading && &row == &rows_.front();
    all += (bold ? "\033[1m" : "") + line + (bold ? "\033[0m" : "") + "\n";
  }
  return all;
}

std::size_t terminal_width() {
  winsize size = {};
  if (::isatty(STDOUT_FILENO) != 1) return 0;
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// According to no-color.org, an empty value of NO_COLOR has no effect.
bool use_colours() {
  const char* refused = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) == 1 && (refused == nullptr || *refused == '\0');
}

}  // namespace trainyard::tools
