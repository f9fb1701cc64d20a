// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/trainyard/command_description.h"

namespace trainyard::tools {

/// Returns the manual page trainyard(1) in the markup language of man(7).
std::string manual_page(const VerbDescription& command, const std::string& version);

}  // namespace trainyard::tools
