// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::launch {

/// Returns the path of a launch file that comes with Trainyard, such as "mnist.toml"; empty if there is none of this
/// name.
std::string shipped_file(const std::string& name);

/// Returns the end of an error: ", nor one that comes with Trainyard; did you mean 'mnist.toml'? known: ...". It is
/// empty if no files are found next to the program.
std::string shipped_suggestion(const std::string& name);

}  // namespace trainyard::launch
