// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/shell_word.h"

#include <algorithm>

#include "messages/error.h"

namespace trainyard::tools::submit {
namespace {

constexpr std::size_t kWidth = 100;

}  // namespace

bool is_plain_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, is_plain);
}

std::string shell_word(std::string_view text) {
  if (text.find('\0') != text.npos) {
    throw Error(Code::kInvalidArgument, "an argument contains a byte 0 behind '{}', which a program cannot receive",
                text.substr(0, text.find('\0')));
  }
  if (is_plain_word(text)) return std::string(text);
  // Within single quotes, only the single quote itself is special.
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_words(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string shell_lines(std::span<const std::string> words) {
  std::string lines;
  std::size_t length = 0;
  for (const std::string& word : words) {
    const std::string quoted = shell_word(word);
    const bool new_line = !lines.empty() && length + 1 + quoted.size() + 2 > kWidth;
    if (new_line) length = 4;
    lines += new_line ? " \\\n    " : lines.empty() ? "" : " ";
    lines += quoted;
    length += quoted.size() + 1;
  }
  return lines;
}

}  // namespace trainyard::tools::submit
