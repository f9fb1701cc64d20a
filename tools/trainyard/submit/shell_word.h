// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Returns true if a shell, wherever the text stands among the arguments of a command, takes it as it is.
bool is_plain_word(std::string_view text);

/// Returns `text` as one word of a POSIX shell. The shell does nothing with it but remove the quotes, whatever it
/// contains. Throws kInvalidArgument for a text with a byte 0, which no argument of a program can contain.
std::string shell_word(std::string_view text);

/// Returns the words with spaces between them.
std::string shell_words(std::span<const std::string> words);

/// Returns the words as one command on several lines of at most 100 characters where possible.
std::string shell_lines(std::span<const std::string> words);

}  // namespace trainyard::tools::submit
