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

/// Returns the newest run whose run name or launch name is `choice.name`, or the newest of all runs if this name is
/// empty. Throws kNotFound, with the nearest name, if there is no such run.
launch::RunInfo find_run(const RunChoice& choice, const std::string& base = launch::runs_directory());

}  // namespace trainyard::tools
