// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

namespace trainyard::core {

/// Checks that `path` names a regular file or a link to one, and returns the status of the file. It does not open the
/// file, because opening a FIFO or a device might never return. Throws kNotFound if the status cannot be read, for
/// example because nothing exists at the path or at the target of a link. Throws kInvalidArgument for anything that is
/// not a regular file; the error names its kind ("is a FIFO, not a file").
struct stat require_regular_file(const std::string& path);

/// Returns true if something exists at `path`: a file of any kind, or a link, even if its target does not exist.
bool is_there(const std::string& path);

}  // namespace trainyard::core
