// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/plugin_spec.h"
#include "launch/file/launch_file.h"
#include "launch/plan/catalogue.h"

namespace trainyard::launch {

/// Returns the environment that `environment` in [topology] names. If the key is not given, or is "auto", the result
/// names no plugin, and the environment is detected when the run starts. Throws for an unknown environment and for
/// parameters that it does not have, with the file and the line.
PluginSpec settle_environment(const LaunchFile& file, Catalogue& catalogue);

}  // namespace trainyard::launch
