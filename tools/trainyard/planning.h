// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch/plan/plan.h"
#include "launch/plan/planner.h"
#include "launch/plan/scanned_catalogue.h"

namespace CLI {
class App;
}

namespace trainyard::tools {

/// The arguments of `launch`, `plan` and `check`: FILE [name=value...].
struct LaunchArguments {
  std::string file;
  std::vector<std::string> values;

  /// Declares both arguments on `verb`. The parser writes their values into this object, which must therefore outlive
  /// the parser.
  void add_to(CLI::App& verb);
};

/// Returns a catalogue of the installed plugins. It loads the description of a plugin only when it is needed.
std::unique_ptr<launch::ScannedCatalogue> open_catalogue();

/// Reads, expands and checks the launch file, and returns the plan. Throws kInvalidArgument for every problem, even for
/// a missing plugin, because the user can solve it by changing the launch file. `find_hosts` is passed to
/// launch::make_plan().
launch::Plan plan_from(const LaunchArguments& arguments, launch::ScannedCatalogue& catalogue,
                       const launch::FindHosts& find_hosts = {});

}  // namespace trainyard::tools
