#include "tools/trainyard/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace trainyard {

// Widths are in bytes: names and numbers here are ASCII.
std::string Table::text(bool bold_heading) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string all;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - row[i].size() + 2, ' ');
    }
    // So that output can be compared line by line.
    line.erase(line.find_last_not_of(' ') + 1);
    const bool bold = bold_heading && &row == &rows_.front();
    all += (bold ? "\033[1m" : "") + line + (bold ? "\033[0m" : "") + "\n";
  }
  return all;
}

bool use_colours() { return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace trainyard
