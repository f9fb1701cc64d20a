// SPDX-License-Identifier: Apache-2.0
#include "messages/printable.h"

#include <algorithm>

namespace trainyard {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  // Every byte is replaced by one byte, so the length does not change and columns stay aligned.
  std::replace_if(out.begin(), out.end(), is_control, '?');
  // U+0080..U+009F are control characters, too; in UTF-8 they are 0xC2 0x80..0x9F.
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const auto next = static_cast<unsigned char>(out[i + 1]);
    if (static_cast<unsigned char>(out[i]) == 0xc2 && next >= 0x80 && next <= 0x9f) out[i] = out[i + 1] = '?';
  }
  return out;
}

std::string printable_line(std::string_view text) {
  std::string out = printable(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, '?');
  return out;
}

}  // namespace trainyard
