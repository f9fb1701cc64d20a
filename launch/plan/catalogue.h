// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/plugin/plugin_info.h"

namespace trainyard::launch {

/// The planner's source of information about plugins. The real catalogue describes them in a child process and caches
/// the answers; tests have a fake one.
class Catalogue {
 public:
  /// What a plugin says when it is constructed with certain parameters.
  struct Answer {
    core::PluginTraits traits;
    std::string objection;  ///< Why its parameters contradict each other; empty if they do not.
  };

  virtual ~Catalogue() = default;

  /// Returns the declaration of a plugin, which lives as long as the catalogue. Throws kNotFound, with the nearest
  /// known name, for a plugin that does not exist.
  virtual const core::PluginInfo& info(std::string_view kind, std::string_view name) = 0;

  /// Returns the labels of all plugins that can be found.
  virtual std::vector<PluginLabel> list() = 0;

  /// Returns what a plugin says when it is constructed with `parameters` (a JSON object). The answer may be cached from
  /// an earlier launch; `anew` queries the plugin again. Throws what `info` throws, and kPluginLoad if the plugin
  /// cannot be constructed with these parameters or declares traits that are not allowed.
  virtual Answer ask(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) = 0;

  /// Returns only the traits of that answer, such as a StrategyTraits. The type determines the kind of the plugin.
  template <class Traits>
  Traits traits(std::string_view name, const std::string& parameters, bool anew = false) {
    return std::get<Traits>(ask(Traits::kPluginKind, name, parameters, anew).traits.of_kind);
  }
};

}  // namespace trainyard::launch
