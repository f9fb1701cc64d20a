#pragma once

#include <map>
#include <string>

#include "launch/plan/draft.h"
#include "launch/plan/parameter_check.h"

namespace trainyard::launch {

/// The plugin that a parameter of a component names, such as its accelerator or its strategy.
struct PluginChoice {
  std::string name;  ///< As given, "auto" included; empty if the file says nothing that names one.
  std::string parameters = "{}";
  GivenParameter place;  ///< Of its name; the component itself if it is a default.
};

/// What the file chooses for the parameter `declared`, else its default.
PluginChoice plugin_choice(const Draft& draft, const ParameterInfo& declared,
                           const std::map<std::string, GivenParameter>& given);

}  // namespace trainyard::launch
