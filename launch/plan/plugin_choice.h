// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "launch/plan/draft.h"

namespace trainyard::launch {

/// The plugin of one kind that a component uses, such as its accelerator or its strategy.
struct PluginChoice {
  /// The parameter that names the plugin; null if the component has no such parameter.
  const ParameterInfo* declared = nullptr;
  std::string name;               ///< The name of the plugin; empty if neither the file nor the default gives one.
  std::string parameters = "{}";  ///< The plugin's own parameters, as a JSON object.
  GivenParameter place;  ///< The position of the name in the file, or of the component if the name is a default.
};

/// Returns the plugin of the given kind that the parameters of the draft (a component while it is being planned)
/// choose, or the default of the component's declaration.
PluginChoice plugin_choice(const Draft& draft, std::string_view kind);

/// Replaces the name of the chosen plugin with `name`. If the file gives a table for the plugin, the other keys of the
/// table do not change; they become parameters of the new plugin.
void set_choice(Draft& draft, const PluginChoice& choice, const std::string& name);

}  // namespace trainyard::launch
