// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/text_column.h"

#include <algorithm>

namespace trainyard::launch {
namespace {

constexpr std::size_t kHanging = 4;
constexpr std::size_t kNarrowest = 20;  ///< The smallest width of the text, however deep the indent is.

/// Returns how many bytes of `text` fit into `width` columns. The text is broken at a space if possible, and never
/// within a UTF-8 character.
std::size_t fitting(std::string_view text, std::size_t width) {
  if (text.size() <= width) return text.size();
  const std::size_t space = text.rfind(' ', width);
  if (space != std::string_view::npos && space > 0) return space;
  std::size_t end = width;
  while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return end;
}

}  // namespace

void TextColumn::line(std::size_t indent, std::string_view text) {
  // Each iteration adds one line. An empty text becomes one empty line.
  for (std::size_t margin = indent;; margin = indent + kHanging) {
    const std::size_t width = margin + kNarrowest < kWidth ? kWidth - margin : kNarrowest;
    const std::size_t length = fitting(text, width);
    if (length > 0) text_.append(margin, ' ');
    text_.append(text.substr(0, length)).push_back('\n');
    text.remove_prefix(std::min(text.find_first_not_of(' ', length), text.size()));
    if (text.empty()) return;
  }
}

}  // namespace trainyard::launch
