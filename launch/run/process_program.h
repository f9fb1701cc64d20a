// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::launch {

/// Returns the path of the `trainyard-process` that belongs to the calling program: in `../libexec/trainyard/` from
/// that program's folder or, in a build tree, next to that program. Throws kNotFound with both paths.
std::string find_process_program();

}  // namespace trainyard::launch
