// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard {

/// A plugin chosen by a parameter: `dataset = "text"` or `dataset = { plugin = "text", context = 64 }`. The plugin's
/// parameters are stored as text, because only the plugin can interpret them. A list of plugins can contain both forms:
/// `transforms = ["random_flip", { plugin = "center_crop", size = 28 }]`.
struct PluginSpec {
  std::string plugin;             ///< The registered name; empty if no plugin is chosen.
  std::string parameters = "{}";  ///< The parameters as the text of a JSON object, without the key "plugin".
};

}  // namespace trainyard
