#pragma once

#include <string>

namespace trainyard {

/// A plugin chosen by a parameter: `dataset = "text"` or `dataset = { plugin = "text", context = 64 }`. The parameters
/// stay text, since only the plugin knows what they mean. A list of them takes both forms side by side:
/// `transforms = ["random_flip", { plugin = "center_crop", size = 28 }]`.
struct PluginSpec {
  std::string plugin;             ///< Registered name; empty = none.
  std::string parameters = "{}";  ///< JSON object, without the key "plugin".
};

}  // namespace trainyard
