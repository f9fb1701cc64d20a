// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/plugin/plugin_info.h"

namespace trainyard::core {

class PluginLoader;

/// Loads a plugin, constructs it once without configuring it, and returns its declaration. This runs the plugin's code,
/// so tools do it in a child process (`trainyard-process --describe FILE`), whose crash does no harm.
///
/// `parameters` is a JSON object, for plugins whose declaration depends on their parameters. If it is an empty string
/// (not "{}"), the plugin is constructed without values, and required parameters may be missing
/// (Configurable::describing). Throws what PluginLoader::load throws, and the Error that the constructor throws; any
/// other exception becomes an Error with the code kPluginLoad. If the parameters contradict each other,
/// PluginInfo::objection contains the reason.
PluginInfo describe_plugin(PluginLoader& loader, const std::string& path, const std::string& parameters = "");

}  // namespace trainyard::core
