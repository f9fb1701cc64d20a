// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/run/run_directory.h"

namespace CLI {
class App;
}

namespace trainyard::tools {

/// The option `--run NAME` of every verb that concerns a running launch.
struct RunChoice {
  std::string name;

  /// Declares the option. This object must outlive the parser.
  void add_to(CLI::App& verb);
};

/// Returns the run with the given run or launch name (the newest, if several have it), or the newest run if no name is
/// given. Throws kNotFound, with the nearest name.
launch::RunInfo find_run(const RunChoice& choice, const std::string& base = launch::runs_directory());

}  // namespace trainyard::tools
