// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

namespace trainyard::core {

/// Checks that a path names an ordinary file, through links if there are any, without opening it: reading a FIFO or a
/// device may never end. Returns the status of the file. Throws kNotFound if there is nothing or a link leads nowhere,
/// and kInvalidArgument for anything that is not a file; the error names its kind ("is a FIFO, not a file").
struct stat require_regular_file(const std::string& path);

/// Returns true if a path names something: a file, or a link even if it leads nowhere.
bool is_there(const std::string& path);

}  // namespace trainyard::core
