// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::core {

/// Throws kIo unless `folder` is a folder of this user to which no other user may write. In any other folder, others
/// could plant files and sockets that would be trusted.
void require_private_folder(const std::string& folder);

/// Makes the folder, readable by this user alone, if it does not exist. Checks an existing folder with
/// require_private_folder(). Throws kIo if the folder cannot be made or fails the check.
void make_private_folder(const std::string& folder);

}  // namespace trainyard::core
