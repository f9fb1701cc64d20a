// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::tools::submit {

/// Runs the engine's program with the path of a temporary file, which contains `text`, as its last argument, and
/// returns what it prints. No shell takes part. Throws kNotFound if there is no such program, kTimeout if it does not
/// answer within two minutes, and kIo with its own words if it refuses.
std::string hand_over_file(std::vector<std::string> command, const std::string& text);

/// Throws kNotFound, with what the user can do instead, if the program is not in PATH.
void require_program(const std::string& program);

}  // namespace trainyard::tools::submit
