// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Returns true if the text needs no quotes as an argument of a command in a POSIX shell.
bool is_plain_word(std::string_view text);

/// Returns `text`, quoted where necessary, as one word for a POSIX shell, which then passes it to the command
/// unchanged. Throws kInvalidArgument if the text contains a zero byte, which is not possible in an argument.
std::string shell_word(std::string_view text);

/// Returns the words, each quoted where necessary, separated by spaces.
std::string shell_words(std::span<const std::string> words);

/// Returns the words as one command, broken into lines of at most 100 characters where possible.
std::string shell_lines(std::span<const std::string> words);

}  // namespace trainyard::tools::submit
