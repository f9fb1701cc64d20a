// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Returns the line of a batch script that sets an option of sbatch: "#SBATCH --name=value". The value is quoted so
/// that sbatch reads it unchanged. Throws kInvalidArgument if it contains control characters: after a newline, the rest
/// would be a separate line of the script.
std::string sbatch_line(std::string_view name, std::string_view value);

/// Returns the line for an option that the user has written in the form of sbatch, such as "--account=physics". Throws
/// kInvalidArgument if it does not begin with '-' or contains control characters.
std::string sbatch_line(std::string_view option);

/// Returns the path, escaped so that sbatch does not replace patterns such as %j in it. Throws kInvalidArgument for a
/// path with a backslash, because a backslash switches off the replacement of all patterns.
std::string sbatch_path(std::string_view path);

}  // namespace trainyard::tools::submit
