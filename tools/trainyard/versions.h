// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "archive/launch_record.h"

namespace trainyard::tools {

/// Returns the versions of this installation, of what it was built with, and of the system on which it runs.
archive::Versions installed_versions();

}  // namespace trainyard::tools
