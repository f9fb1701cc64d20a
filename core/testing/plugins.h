// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/loader.h"

namespace trainyard::testing {

/// Returns the names of all plugins of a kind in this build and in TRAINYARD_PLUGIN_PATH. A contract test iterates over
/// these names, so it also covers plugins that are added later.
inline std::vector<std::string> plugins_of_kind(std::string_view kind) {
  std::vector<std::string> names;
  for (const auto& found : core::PluginLoader(core::PluginLoader::default_directories()).list()) {
    if (found.label.kind == kind) names.push_back(found.label.name);
  }
  return names;
}

/// Turns "image_folder" into "ImageFolder", because the name of a test may have only letters and digits.
inline std::string camel_case(std::string_view name) {
  std::string text;
  bool begins = true;
  for (const char letter : name) {
    if (letter != '_') text += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    begins = letter == '_';
  }
  return text;
}

}  // namespace trainyard::testing
