// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::launch {

/// Collects lines that are at most 80 columns wide. A longer line continues on the next one, indented by 4 more.
class TextColumn {
 public:
  static constexpr std::size_t kWidth = 80;

  /// Adds one line. An empty line has no trailing spaces.
  void line(std::size_t indent, std::string_view text);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace trainyard::launch
