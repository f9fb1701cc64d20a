// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "archive/launch_record.h"

namespace trainyard::tools {

/// Returns the version of this installation, the versions of the compiler and the libraries with which it was built,
/// and the version of the operating system.
archive::Versions installed_versions();

}  // namespace trainyard::tools
