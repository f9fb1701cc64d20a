// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/plugin/plugin_info.h"

namespace trainyard::core {

class PluginLoader;

/// Loads a plugin and reads its declaration, by constructing it once in describing mode. This runs the plugin's code,
/// so tools do it in a child process (`trainyard-process --describe FILE`), which may crash without harm.
///
/// `parameters` is a JSON object for plugins that describe themselves differently depending on it; if it is empty, only
/// the declaration is read. Throws what PluginLoader::load throws, and kPluginLoad if the constructor fails. What the
/// plugin has against the parameters together is part of the description.
PluginInfo describe_plugin(PluginLoader& loader, const std::string& path, const std::string& parameters = "");

}  // namespace trainyard::core
