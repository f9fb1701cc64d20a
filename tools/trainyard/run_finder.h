#pragma once

#include <string>

#include "launch/run/run_directory.h"

namespace CLI {
class App;
}

namespace trainyard::tools {

/// The option `--run NAME` that every verb about a running launch has.
struct RunChoice {
  std::string name;

  /// Declares the option; this object must outlive the parser.
  void add_to(CLI::App& verb);
};

/// The run that is meant: of this run or launch name if one is given (the newest, if several have it), else the newest.
/// Throws kNotFound, with the nearest name.
launch::RunInfo find_run(const RunChoice& choice, const std::string& base = launch::runs_directory());

}  // namespace trainyard::tools
