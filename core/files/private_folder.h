// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::core {

/// Throws kIo unless `folder` is a folder of this user to which no other user may write. In any other folder, others
/// could plant files and sockets that would be trusted.
void require_private_folder(const std::string& folder);

/// Makes the folder, readable by this user alone, if it does not exist. An existing folder is checked with
/// require_private_folder(). Throws kIo.
void make_private_folder(const std::string& folder);

}  // namespace trainyard::core
