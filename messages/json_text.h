#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

/// Writes JSON straight into a string. A document tree would take many times the memory of the message it shows, at the
/// choice of whoever sent the message.
class JsonText {
 public:
  /// `indent` < 0 gives one line.
  explicit JsonText(int indent) : indent_(indent) {}

  void open(char bracket);
  /// Closes the innermost bracket; `bracket` must match it.
  void close(char bracket);
  void key(std::string_view name);
  /// A string; bytes that are no UTF-8 become U+FFFD.
  void text(std::string_view value);
  void number(double value);
  void number(float value);
  /// A value that is JSON already: an integer, `true`, `null`.
  void literal(std::string_view value);

  std::string take() { return std::move(out_); }

 private:
  void before_value();
  void new_line();

  std::string out_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;       ///< Nothing stands in the innermost bracket yet.
  bool after_key_ = false;  ///< The next value belongs to the key just written.
};

}  // namespace trainyard
