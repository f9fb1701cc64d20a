#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

/// Writes JSON straight into a string. A document tree would take many times the memory of the message it shows, at the
/// choice of whoever sent the message.
///
/// The caller keeps the grammar: a key before each value inside '{', and brackets in pairs. Commas, colons and
/// indentation come by themselves.
class JsonText {
 public:
  /// `indent` < 0 gives one line.
  explicit JsonText(int indent) : indent_(indent) {}

  /// Begins an object '{' or an array '['.
  void open(char bracket);
  /// Closes the innermost bracket; `bracket` must match it.
  void close(char bracket);
  /// The name of the next value, inside an object.
  void key(std::string_view name);
  /// A string; bytes that are no UTF-8 become U+FFFD.
  void text(std::string_view value);
  /// The shortest text that reads back as the same number; "NaN", "Infinity" or "-Infinity" as a string.
  void number(double value);
  /// Apart from the one for double, because the shortest text of 0.1f is "0.1", and that of the same value as a double
  /// has 17 digits.
  void number(float value);
  /// A value that is JSON already: an integer, `true`, `null`.
  void literal(std::string_view value);

  /// What was written; the writer is of no use afterwards.
  std::string take() { return std::move(out_); }

 private:
  /// Puts what must stand between the last value and the next.
  void before_value();
  void new_line();

  std::string out_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;       ///< Nothing stands in the innermost bracket yet.
  bool after_key_ = false;  ///< The next value belongs to the key just written.
};

}  // namespace trainyard
