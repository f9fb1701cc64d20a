// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

namespace trainyard::core {

/// Checks that a path names an ordinary file, through links if there are any, without opening it: reading a FIFO or a
/// device may never end. Returns what the system says about the file. Throws kNotFound if there is nothing, or if links
/// lead nowhere, and kInvalidArgument with the kind of anything else ("is a FIFO, not a file").
struct stat require_regular_file(const std::string& path);

/// Returns true if a path names something: a file, or a link even if it leads nowhere.
bool is_there(const std::string& path);

}  // namespace trainyard::core
