// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/trainyard/past_runs.h"

namespace trainyard::tools {

/// The arguments of all subcommands of `trainyard runs`. Only one subcommand runs at a time, so they share one struct.
struct RunsArguments {
  std::vector<std::string> folders{kRunsFolder};  ///< The folders in which `runs list` and `runs best` search for runs.
  std::vector<std::string> runs;                  ///< The runs that the command line names.
  std::string folder = kRunsFolder;               ///< The folder in which the named runs are searched for.
  std::string by = "validate/loss";               ///< The stage and the name of the metric for `runs best`.
  std::size_t count = 10;
  bool largest = false;
  bool differences = false;
  bool yes = false;
  bool as_json = false;
};

/// `runs list`: prints one line for each run. Like all functions below, this function returns the exit code.
int list_runs(const RunsArguments& arguments);
/// `runs show RUN`: prints everything that is known about one run.
int show_run(const RunsArguments& arguments);
/// `runs compare RUN RUN...`: prints the parameters and metrics of several runs side by side.
int compare_runs(const RunsArguments& arguments);
/// `runs best --by STAGE/NAME`: prints the runs with the best values of a metric, the best first.
int rank_runs(const RunsArguments& arguments);
/// `runs rm RUN...`: removes everything that these runs have written.
int remove_runs(const RunsArguments& arguments);

}  // namespace trainyard::tools
