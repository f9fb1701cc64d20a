// SPDX-License-Identifier: Apache-2.0
#include "messages/json_text.h"

#include <fmt/compile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace trainyard {

// Every number is written so that it reads back unchanged. A float gets the shortest text of its own width, with a
// point or an exponent, so that 1.0 stays a float in languages that distinguish the two.

namespace {

/// Returns the string that stands for a number that JSON cannot represent, or an empty text for all other numbers.
std::string_view not_finite(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return {};
}

/// Calls `write` with the shortest text that reads back as the same number of the same width, and that has a decimal
/// point or an exponent. The text is made on the stack, because recordings contain a great many numbers.
template <class T, class Write>
void with_number_text(T value, Write write) {
  const std::string_view name = not_finite(value);
  if (!name.empty()) return write(name);
  std::array<char, 48> text;
  char* end = fmt::format_to(text.data(), FMT_COMPILE("{}"), value);
  if (std::string_view(text.data(), end).find_first_of(".e") == std::string_view::npos) end = std::copy_n(".0", 2, end);
  write(std::string_view(text.data(), end));
}

/// Returns true if a JSON string contains the same bytes without escapes: printable ASCII without quotation mark and
/// backslash.
bool needs_no_escape(std::string_view value) {
  // Without a branch in the loop, the compiler checks many bytes at a time.
  bool plain = true;
  for (const char c : value) plain &= c >= ' ' && c <= '~' && c != '"' && c != '\\';
  return plain;
}

}  // namespace

void JsonText::open(char bracket) {
  before_value();
  out_ += bracket;
  ++depth_;
  first_ = true;
}

// An empty object or array is written on one line: "{}".
void JsonText::close(char bracket) {
  --depth_;
  if (!first_) new_line();
  out_ += bracket;
  first_ = false;
}

void JsonText::key(std::string_view name) {
  text(name);
  out_ += indent_ < 0 ? ":" : ": ";
  after_key_ = true;
}

// The JSON library escapes text that needs it. By default it would throw for bytes that are not valid UTF-8, but a
// string in a message may contain any bytes.
void JsonText::text(std::string_view value) {
  before_value();
  if (needs_no_escape(value)) {
    const std::size_t begin = out_.size();
    out_.resize(begin + value.size() + 2, '"');
    std::ranges::copy(value, out_.begin() + static_cast<std::ptrdiff_t>(begin) + 1);
    return;
  }
  out_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void JsonText::number(double value) {
  with_number_text(value, [this](std::string_view text) { literal(text); });
}

void JsonText::number(float value) {
  with_number_text(value, [this](std::string_view text) { literal(text); });
}

void JsonText::literal(std::string_view value) {
  before_value();
  out_ += value;
}

// Commas and new lines are written before a value and not after it, because only then is it known that another value
// follows.
void JsonText::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) out_ += ',';
  first_ = false;
  new_line();
}

void JsonText::new_line() {
  if (indent_ < 0) return;
  out_ += '\n';
  out_.append(static_cast<std::size_t>(depth_ * indent_), ' ');
}

}  // namespace trainyard
