// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Returns true if a shell passes the text on unchanged, wherever it stands among the arguments of a command.
bool is_plain_word(std::string_view text);

/// Returns `text` as one word of a POSIX shell. The shell only removes the quotes, whatever the text contains. Throws
/// kInvalidArgument for a text with a zero byte, which no argument of a program can contain.
std::string shell_word(std::string_view text);

/// Returns the words with spaces between them.
std::string shell_words(std::span<const std::string> words);

/// Returns the words as one command on several lines of at most 100 characters where possible.
std::string shell_lines(std::span<const std::string> words);

}  // namespace trainyard::tools::submit
