// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::web {

/// Returns the token in the file. If the file does not exist, it is made, readable by this user alone, with a new
/// token. A token in a file stays the same when a server is started again, and other programs can read it there.
///
/// Throws kInvalidArgument if every user may read or change the file, or if it does not contain one token: 20 to 200 of
/// the characters A-Z, a-z, 0-9, '-' and '_', and a line feed at the end or not. Throws kIo if the file cannot be read
/// or made.
std::string token_from_file(const std::string& path);

}  // namespace trainyard::web
