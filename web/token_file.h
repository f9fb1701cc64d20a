// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::web {

/// Returns the token in the file. If the file does not exist, creates it with a new token; only this user can then read
/// it. With a file, the token stays the same when a server is restarted, and other programs of this user can read it.
///
/// Throws kInvalidArgument if the file is readable or writable by everyone, or if its content is not a token, which
/// consists of 20 to 200 of the characters A-Z, a-z, 0-9, '-' and '_', and may be followed by a line feed. Throws kIo
/// if the file cannot be read or created.
std::string token_from_file(const std::string& path);

}  // namespace trainyard::web
