// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::web {

/// Returns a new secret token: 32 random bytes from the kernel (getrandom), as 43 characters of base64url. Throws kIo
/// if getrandom() fails.
std::string new_token();

/// Returns whether two texts are equal, in a time that depends only on their lengths. An attacker therefore cannot
/// find out a token character by character.
bool equal_in_constant_time(std::string_view left, std::string_view right);

}  // namespace trainyard::web
