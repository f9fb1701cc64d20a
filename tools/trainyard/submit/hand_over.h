// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::tools::submit {

/// Writes `text` to a temporary file, runs `command` (such as sbatch or kubectl) with the path of this file as the last
/// argument, and returns what the command prints. No shell is involved. Throws kNotFound if the program does not exist,
/// kTimeout if it takes longer than two minutes, and kIo, with the program's error output, if it fails.
std::string hand_over_file(std::vector<std::string> command, const std::string& text);

/// Throws kNotFound if the program is not in PATH. The error message states what the user can do instead.
void require_program(const std::string& program);

}  // namespace trainyard::tools::submit
