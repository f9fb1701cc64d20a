// SPDX-License-Identifier: Apache-2.0
#include "launch/file/text_guard.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/files/regular_file.h"
#include "launch/file/origin.h"

namespace trainyard::launch {
namespace {

/// Goes through the text once, without recursion, and measures "runs". A run is a piece of text that could be one
/// dotted key: it consists of words, quoted strings and dots, and ends at any other punctuation.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void scan() {
    while (at_ < text_.size()) step();
  }

 private:
  // Comments and strings are skipped as a whole, because they can contain any punctuation.
  void step() {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '"' || c == '\'') {
      skip_string(c);
    } else {
      plain(c);
      ++at_;
    }
  }

  // Spaces and other characters count as part of the run, too. So a run can be measured as too long, but never as too
  // short.
  void plain(char c) {
    switch (c) {
      case '\n':
        ++line_;
        end_run();
        break;
      case '[':
      case '{':
        if (++brackets_ > kMaxBrackets) fail("arrays and tables are nested deeper than", kMaxBrackets, "levels");
        end_run();
        break;
      case ']':
      case '}':
        if (brackets_ > 0) --brackets_;
        end_run();
        break;
      case '=':
      case ',':
        end_run();
        break;
      case '.':
        if (++parts_ > kMaxKeyParts) fail("a key has more than", kMaxKeyParts, "parts");
        break;
      default:
        grow(1);
    }
  }

  void grow(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMaxKeyBytes) fail("a key is longer than", kMaxKeyBytes, "bytes");
  }

  void end_run() {
    bytes_ = 0;
    parts_ = 1;
  }

  // Skips a string. There are four kinds of strings: basic and literal strings, each on one line or, with three
  // quotation marks, on several lines.
  void skip_string(char quote) {
    const std::string_view rest = text_.substr(at_);
    const std::string triple(3, quote);
    const bool many_lines = rest.starts_with(triple);
    const std::size_t length = string_length(rest, many_lines ? triple : std::string(1, quote));
    line_ += static_cast<std::uint32_t>(std::ranges::count(rest.substr(0, length), '\n'));
    at_ += length;
    // A string counts for the run only if it is part of a key. As a value, it may be long.
    if (!many_lines && is_key_before(at_)) grow(length);
  }

  /// Returns the length of a string, including its quotation marks. If the closing quotation marks are missing, the
  /// string extends to the end of the line, or, if it can have several lines, to the end of the text.
  static std::size_t string_length(std::string_view text, std::string_view quotes) {
    for (std::size_t i = quotes.size(); i < text.size(); ++i) {
      // Only basic strings, in double quotation marks, have escapes.
      if (text[i] == '\\' && quotes.front() == '"') {
        ++i;
      } else if (text.substr(i).starts_with(quotes)) {
        return i + quotes.size();
      } else if (text[i] == '\n' && quotes.size() == 1) {
        return i;
      }
    }
    return text.size();
  }

  /// Returns true if the string that ends at `at` is part of a key, which only the text after it shows.
  bool is_key_before(std::size_t at) const {
    const std::size_t next = text_.find_first_not_of(" \t", at);
    return next != std::string_view::npos && (text_[next] == '.' || text_[next] == '=');
  }

  [[noreturn]] void fail(std::string_view what, std::size_t limit, std::string_view unit) const {
    throw error_at({file_, line_}, "", fmt::format("{} {} {}", what, limit, unit));
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t bytes_ = 0;
  std::size_t parts_ = 1;
  std::size_t brackets_ = 0;
};

}  // namespace

std::string read_launch_text(const std::string& path) {
  core::require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Code::kNotFound, "{}: cannot be read: {}", path, std::strerror(errno));
  // Reading one byte more than is allowed is enough to detect a file that is too long.
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) {
    throw Error(Code::kInvalidArgument, "{}: a launch file has at most {} bytes", path, kMaxFileBytes);
  }
  return text;
}

void check_text_limits(std::string_view text, const std::string& file) { Scanner(text, file).scan(); }

}  // namespace trainyard::launch
