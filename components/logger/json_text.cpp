// SPDX-License-Identifier: Apache-2.0
#include "components/logger/json_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "components/logger/number_text.h"

namespace trainyard {
namespace {

/// Returns true for ASCII characters that JSON does not escape. Texts with other characters are written by the JSON
/// library.
bool needs_no_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  if (std::all_of(text.begin(), text.end(), needs_no_escape)) {  // The usual case, for which the library would be slow.
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
