// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/run/guard.h"
#include "tools/trainyard/planning.h"

namespace trainyard::tools {

/// Options of a launch that are not in the launch file.
struct LaunchChoices {
  /// The name of the run, which other verbs take with --run; empty for the name from the launch file.
  std::string name;
  /// A program and its arguments, such as a profiler, under which the process of `wrapped_component` is started; empty
  /// if there is none.
  std::vector<std::string> wrapper;
  /// The name of this component. If it exists for each rank, that of rank 0 is meant.
  std::string wrapped_component = "accelerator_host";
};

/// Plans and runs a launch, and returns its exit code. Must be called in the function that run_guarded() calls. Throws
/// kInvalidArgument for any problem with the launch file.
int run_launch(const LaunchArguments& arguments, const LaunchChoices& choices, const launch::GuardLink& guard);

}  // namespace trainyard::tools
