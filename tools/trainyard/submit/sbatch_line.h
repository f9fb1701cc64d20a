// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Returns the line of a batch script that passes an option to sbatch: "#SBATCH --name=value". sbatch reads the value
/// unchanged, whatever it contains. Throws kInvalidArgument if the value contains control characters: a newline would
/// end the line, and the rest would become a line of its own.
std::string sbatch_line(std::string_view name, std::string_view value);

/// Returns such a line for an option in the form in which the user would pass it to sbatch, such as
/// "--account=physics". Throws kInvalidArgument if it does not begin with '-' or contains control characters.
std::string sbatch_line(std::string_view option);

/// Returns the path in a form in which sbatch replaces nothing. Throws kInvalidArgument for a path with a backslash,
/// because sbatch then stops replacing "%j", too.
std::string sbatch_path(std::string_view path);

}  // namespace trainyard::tools::submit
