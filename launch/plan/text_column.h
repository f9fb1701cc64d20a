// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::launch {

/// A text that is built line by line and is at most 80 columns wide. A longer line is continued on the next line, where
/// it is indented by 4 more columns.
class TextColumn {
 public:
  static constexpr std::size_t kWidth = 80;

  /// Adds one line, indented by `indent` columns. A line without text gets no spaces.
  void line(std::size_t indent, std::string_view text);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace trainyard::launch
