// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard {

/// A writer that appends JSON text directly to a string, without building a tree of values first. A tree would need
/// many times the memory of the message that is converted, so the sender of a large message could make the reader run
/// out of memory.
///
/// The caller is responsible for the grammar: a key before each value inside '{', and brackets in pairs. The writer
/// adds commas, colons and indentation.
class JsonText {
 public:
  /// Appends to `out`, which must outlive the writer. Each level is indented by `indent` spaces. With a negative
  /// `indent`, the text is a single line.
  JsonText(std::string& out, int indent) : out_(out), indent_(indent) {}

  /// Begins an object '{' or an array '['.
  void open(char bracket);
  /// Closes the innermost bracket. `bracket` is the matching '}' or ']'.
  void close(char bracket);
  /// Writes the name of the next value inside an object.
  void key(std::string_view name);
  /// Writes a string. Bytes that are not valid UTF-8 become U+FFFD.
  void text(std::string_view value);
  /// Writes the shortest text that reads back as the same number and has a decimal point or an exponent, such as "1.0".
  /// NaN and infinities become the strings "NaN", "Infinity" and "-Infinity".
  void number(double value);
  /// Like number(double), but the text only needs to read back as the same float. The overload exists because the
  /// shortest text of 0.1f is "0.1", whereas the shortest text of the same value as a double has 17 digits.
  void number(float value);
  /// Writes `value` unchanged, because it is already JSON, such as an integer, `true` or `null`.
  void literal(std::string_view value);

 private:
  /// Writes the comma and the indentation before the next value.
  void before_value();
  void new_line();

  std::string& out_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;       ///< True until the innermost bracket contains something.
  bool after_key_ = false;  ///< True if a key has just been written and its value comes next.
};

}  // namespace trainyard
