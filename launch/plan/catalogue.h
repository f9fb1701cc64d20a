#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/plugin_info.h"

namespace trainyard::launch {

/// What the planner may know of plugins. The real one describes them in a child process and caches; tests have a fake.
class Catalogue {
 public:
  virtual ~Catalogue() = default;

  /// Throws kNotFound, with the nearest known name, for a plugin that does not exist. The result lives as long as the
  /// catalogue.
  virtual const core::PluginInfo& info(std::string_view kind, std::string_view name) = 0;

  /// Labels of all plugins that can be found.
  virtual std::vector<PluginLabel> list() = 0;

  /// What a plugin says of itself when it is made with `parameters` (a JSON object): whether it is available, its
  /// rules. Often remembered from an earlier launch; `anew` asks it again, as what it says may have changed since.
  /// Throws as `info`, and kPluginLoad with what the plugin has against its parameters.
  using Facts = std::map<std::string, std::string>;
  virtual Facts facts(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) = 0;
};

}  // namespace trainyard::launch
