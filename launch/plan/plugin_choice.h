// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "launch/plan/draft.h"

namespace trainyard::launch {

/// The plugin that a parameter of a component names, such as its accelerator or its strategy.
struct PluginChoice {
  const ParameterInfo* declared = nullptr;  ///< The parameter; null if the component has none for such a plugin.
  std::string name;                         ///< As given; empty if nothing names a plugin.
  std::string parameters = "{}";
  GivenParameter place;  ///< The place where the name is written, or that of the component if the name is a default.
};

/// Returns what the draft's given parameters choose as the plugin of this kind, otherwise the default.
PluginChoice plugin_choice(const Draft& draft, std::string_view kind);

/// Puts the name of a plugin in the place of the one that was chosen. If the file gives a table, its other keys stay,
/// because they are parameters of whatever is chosen.
void set_choice(Draft& draft, const PluginChoice& choice, const std::string& name);

}  // namespace trainyard::launch
