// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Returns the line of a batch script that gives an option to sbatch: "#SBATCH --name=value". sbatch reads the value
/// unchanged, whatever it contains. Throws kInvalidArgument for control characters, because such a line ends at the
/// first newline and what follows would be a line of its own.
std::string sbatch_line(std::string_view name, std::string_view value);

/// Returns the line for an option that the user has written as for sbatch, such as "--account=physics". Throws
/// kInvalidArgument if it does not begin with '-', or contains control characters.
std::string sbatch_line(std::string_view option);

/// Returns a path in which sbatch replaces nothing. Throws kInvalidArgument for a path with a backslash, which sbatch
/// would take as a request to replace nothing at all.
std::string sbatch_path(std::string_view path);

}  // namespace trainyard::tools::submit
