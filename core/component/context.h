#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/plugin/plugin_context.h"

namespace trainyard {

class EventLoop;

/// What a component is made with. Copied into the component; what it points to outlives every component.
struct ComponentContext : PluginContext {
  std::string name;           ///< Full name in the run: "rank0/optimizer".
  std::uint32_t index = 0;    ///< In the plan; Header::source of what it sends.
  EventLoop* loop = nullptr;  ///< The loop that runs all of its handlers.

  /// Where the launch file gives its parameters, "mnist.toml:12" by name; empty without a launch file.
  std::map<std::string, std::string> places;

  /// Tells the launcher that the run is over. Any component may; the first one counts.
  std::function<void(const std::string& reason, bool success)> finish_run;
};

}  // namespace trainyard
