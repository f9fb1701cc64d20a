#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/plugin/plugin_context.h"

namespace trainyard::core {
class EventLoop;
}  // namespace trainyard::core

namespace trainyard {

/// What a component is constructed with. The component keeps a copy; what it points to outlives every component.
struct ComponentContext : PluginContext {
  std::string name;                 ///< The full name in the run, such as "rank0/optimizer".
  std::uint32_t index = 0;          ///< The index in the plan, which is Header::source of what the component sends.
  core::EventLoop* loop = nullptr;  ///< The loop that runs all of its handlers.

  /// Where the launch file sets each parameter, such as "mnist.toml:12", by the parameter's name; empty without a
  /// launch file.
  std::map<std::string, std::string> places;

  /// Tells the launcher that the run is over. Any component may call it; the first call counts.
  std::function<void(const std::string& reason, bool success)> finish_run;
};

}  // namespace trainyard
