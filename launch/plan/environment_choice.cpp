// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/environment_choice.h"

#include <nlohmann/json.hpp>

#include "core/config/parameter_info.h"
#include "launch/plan/parameter_check.h"

namespace trainyard::launch {

PluginSpec settle_environment(const LaunchFile& file, Catalogue& catalogue) {
  if (!file.topology.environment) return {};
  const Value& given = *file.topology.environment;
  // The key is checked in the same way as a parameter that names a plugin.
  ParameterInfo declared;
  declared.name = "environment";
  declared.kind = ValueKind::kPlugin;
  declared.rules = plugin_kind("environment");
  ParameterCheck(catalogue).check({declared}, {{"environment", {given, "topology.environment"}}}, given.origin,
                                  "topology");

  nlohmann::json parameters = to_json(given);
  if (parameters.is_string()) parameters = {{"plugin", parameters}};
  const std::string plugin = parameters.at("plugin").get<std::string>();
  if (plugin == "auto") return {};
  parameters.erase("plugin");
  return {plugin, parameters.dump()};
}

}  // namespace trainyard::launch
