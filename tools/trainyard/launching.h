// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/run/guard.h"
#include "tools/trainyard/planning.h"

namespace trainyard::tools {

/// The name of a launch, and how one of its processes is started.
struct LaunchChoices {
  /// The name of the run, by which other commands can find it with --run. If it is empty, the name in the launch file
  /// is used.
  std::string name;
  /// The program under which the process of `wrapped_component` is started, such as a profiler, followed by the
  /// program's arguments; empty to start the process directly.
  std::vector<std::string> wrapper;
  /// The name of the component whose process is started under the wrapper. If the component exists for each rank, this
  /// is the component of rank 0.
  std::string wrapped_component = "accelerator_host";
};

/// Plans and runs a launch, and returns its exit code. Must be called by the function that is passed to run_guarded(),
/// that is, in a child process, so that the parent can clean up if this process is killed. `guard` is the argument with
/// which run_guarded() calls that function. Throws kInvalidArgument for any problem with the launch file.
int run_launch(const LaunchArguments& arguments, const LaunchChoices& choices, const launch::GuardLink& guard);

}  // namespace trainyard::tools
