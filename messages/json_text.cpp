// SPDX-License-Identifier: Apache-2.0
#include "messages/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace trainyard {

// Numbers of every kind read back as what they were. A float gets the shortest text of its own width, with a point or
// an exponent, so that 1.0 stays a float in languages that distinguish the two.

namespace {

/// The name of a number that JSON cannot write, or empty.
std::string_view not_finite(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return {};
}

/// The shortest text that reads back as the same number of the same width and shows that it is not an integer.
template <class T>
std::string number_text(T value) {
  const std::string_view name = not_finite(value);
  if (!name.empty()) return std::string(name);
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

void JsonText::open(char bracket) {
  before_value();
  out_ += bracket;
  ++depth_;
  first_ = true;
}

// An empty bracket closes on the same line: "{}".
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

// The library does the escaping. By default it would throw for bytes that are not valid UTF-8, and a string on the wire
// may hold any bytes.
void JsonText::text(std::string_view value) {
  before_value();
  out_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void JsonText::number(double value) { literal(number_text(value)); }

void JsonText::number(float value) { literal(number_text(value)); }

void JsonText::literal(std::string_view value) {
  before_value();
  out_ += value;
}

// Commas and new lines are written in front of a value, because only then is it known that there is one.
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
