#pragma once

#include <string>

#include "core/plugin/plugin_info.h"

namespace trainyard {

class PluginLoader;

/// Loads a plugin and reads its declaration: constructs it once in describing mode. Runs the plugin's code, so tools do
/// it in a child process (`trainyard-process --describe FILE`), which may crash without harm. `parameters`: a JSON
/// object, for facts that depend on them; empty = the declaration is wanted. Throws what PluginLoader::load throws, and
/// kPluginLoad for a constructor that fails.
PluginInfo describe_plugin(PluginLoader& loader, const std::string& path, const std::string& parameters = "");

}  // namespace trainyard
