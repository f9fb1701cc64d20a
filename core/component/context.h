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

/// The arguments from which a component is constructed. The component keeps a copy; the objects that the pointers refer
/// to outlive every component.
struct ComponentContext : PluginContext {
  std::string name;                 ///< The full name in the run, such as "rank0/optimizer".
  std::uint32_t index = 0;          ///< The index in the plan. Messages from this component carry it as Header::source.
  core::EventLoop* loop = nullptr;  ///< The loop that runs all of its handlers.

  /// For each parameter, the place where the launch file sets it, such as "mnist.toml:12". It is empty if there is no
  /// launch file.
  std::map<std::string, std::string> places;

  /// Tells the launcher that the run is over. Any component may call it; only the first call counts.
  std::function<void(const std::string& reason, bool success)> finish_run;
};

}  // namespace trainyard
