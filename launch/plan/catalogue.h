// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/plugin_info.h"

namespace trainyard::launch {

/// The planner's source of information about plugins. The real catalogue describes them in a child process and caches
/// the answers; tests have a fake one.
class Catalogue {
 public:
  virtual ~Catalogue() = default;

  /// Returns the declaration of a plugin, which lives as long as the catalogue. Throws kNotFound, with the nearest
  /// known name, for a plugin that does not exist.
  virtual const core::PluginInfo& info(std::string_view kind, std::string_view name) = 0;

  /// Returns the labels of all plugins that can be found.
  virtual std::vector<PluginLabel> list() = 0;

  /// Returns the facts that a plugin reports when it is constructed with `parameters` (a JSON object): whether it is
  /// available, and its rules. The answer may be cached from an earlier launch; `anew` queries the plugin again. Throws
  /// what `info` throws, and kPluginLoad with the plugin's objection to its parameters.
  using Facts = std::map<std::string, std::string>;
  virtual Facts facts(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) = 0;
};

}  // namespace trainyard::launch
