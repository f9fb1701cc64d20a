// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/run/guard.h"
#include "tools/trainyard/planning.h"

namespace trainyard::tools {

/// What one launch is called, and how it is started.
struct LaunchChoices {
  std::string name;  ///< The name of the run, for --run of other verbs; empty = as the launch file says.
  /// A program and its arguments under which the process of `wrapped_component` is started, such as a profiler; empty =
  /// none.
  std::vector<std::string> wrapper;
  std::string wrapped_component = "accelerator_host";  ///< The component of rank 0 if there is one for each rank.
};

/// Plans and runs a launch, and returns its exit code. Must be called in the function that run_guarded() calls. Throws
/// kInvalidArgument for any problem with the launch file.
int run_launch(const LaunchArguments& arguments, const LaunchChoices& choices, const launch::GuardLink& guard);

}  // namespace trainyard::tools
