// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/plugin/plugin_context.h"

namespace trainyard::core {
class EventLoop;
}  // namespace trainyard::core

namespace trainyard {

/// The arguments of the constructor of a component, which keeps a copy of them. The objects that the pointers refer to
/// outlive every component.
struct ComponentContext : PluginContext {
  std::string name;                 ///< The full name in the run, such as "rank0/optimizer".
  std::uint32_t index = 0;          ///< The index of the component in the plan, sent in the header of each message.
  core::EventLoop* loop = nullptr;  ///< The loop that runs the handlers of the component.

  /// For each parameter that the launch file sets, the file and line where it is set, such as "mnist.toml:12". The keys
  /// are the names of the parameters. The map is empty if there is no launch file.
  std::map<std::string, std::string> places;

  /// Asks the launcher to end the run; see Component::finish_run. Any component may call this function; the launcher
  /// acts only on the first call.
  std::function<void(const std::string& reason, bool success)> finish_run;
};

}  // namespace trainyard
