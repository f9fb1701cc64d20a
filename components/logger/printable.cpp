// SPDX-License-Identifier: Apache-2.0
#include "components/logger/printable.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "components/logger/number_text.h"

namespace trainyard {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

/// True for plain ASCII. Everything else goes to the library, which knows the rules of JSON and UTF-8.
bool needs_no_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  // One byte replaces one byte, so the length stays and columns line up.
  std::replace_if(out.begin(), out.end(), is_control, '?');
  // U+0080..U+009F are control characters, too; in UTF-8 they are 0xC2 0x80..0x9F.
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const auto next = static_cast<unsigned char>(out[i + 1]);
    if (static_cast<unsigned char>(out[i]) == 0xc2 && next >= 0x80 && next <= 0x9f) out[i] = out[i + 1] = '?';
  }
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  if (std::all_of(text.begin(), text.end(), needs_no_escape)) {  // This is nearly always so, in every step.
    out.append(1, '"').append(text).append(1, '"');
    return;
  }
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_json_number(std::string& out, double value) {
  if (std::isfinite(value)) {
    append_exact(out, value);
  } else {
    out += "null";
  }
}

}  // namespace trainyard
