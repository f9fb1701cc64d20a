// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::launch {

/// Returns the path of the program `trainyard-process` that belongs to the calling program. In an installation it is in
/// `../libexec/trainyard/`, relative to the folder of the calling program. In a build tree it is in the same folder.
/// Throws kNotFound if it is in neither place; the error contains both paths.
std::string find_process_program();

}  // namespace trainyard::launch
