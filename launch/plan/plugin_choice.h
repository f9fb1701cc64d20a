// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "launch/plan/draft.h"
#include "launch/plan/parameter_check.h"

namespace trainyard::launch {

/// The plugin that a parameter of a component names, such as its accelerator or its strategy.
struct PluginChoice {
  std::string name;  ///< As given, "auto" included; empty if nothing in the file names one.
  std::string parameters = "{}";
  GivenParameter place;  ///< The place of its name, or that of the component if it is a default.
};

/// Returns what the file chooses for the parameter `declared`, otherwise its default.
PluginChoice plugin_choice(const Draft& draft, const ParameterInfo& declared,
                           const std::map<std::string, GivenParameter>& given);

}  // namespace trainyard::launch
