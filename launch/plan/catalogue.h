#pragma once

#include <string_view>
#include <vector>

#include "core/plugin/plugin_info.h"

namespace trainyard {

/// What the planner may know of plugins. The real one describes them in a child process and caches; tests have a fake.
class Catalogue {
 public:
  virtual ~Catalogue() = default;

  /// Throws kNotFound, with the nearest known name, for a plugin that does not exist. The result lives as long as the
  /// catalogue.
  virtual const PluginInfo& info(std::string_view kind, std::string_view name) = 0;

  /// Labels of all plugins that can be found.
  virtual std::vector<PluginLabel> list() = 0;
};

}  // namespace trainyard
