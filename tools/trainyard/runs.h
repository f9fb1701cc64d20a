// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/trainyard/past_runs.h"

namespace trainyard::tools {

/// The arguments of the verbs `runs ...`. All of these verbs share one struct, because only one of them runs.
struct RunsArguments {
  std::vector<std::string> folders{kRunsFolder};  ///< The folders in which runs are searched for.
  std::vector<std::string> runs;                  ///< The runs that the command line names.
  std::string folder = kRunsFolder;               ///< The folder in which the named runs are searched for.
  std::string by = "validate/loss";               ///< The stage and the name of the metric by which runs are compared.
  std::size_t count = 10;
  bool largest = false;
  bool differences = false;
  bool yes = false;
  bool as_json = false;
};

/// `runs list`: one line for each run.
int list_runs(const RunsArguments& arguments);
/// `runs show RUN`: everything that is known about one run.
int show_run(const RunsArguments& arguments);
/// `runs compare RUN RUN...`: parameters and metrics side by side.
int compare_runs(const RunsArguments& arguments);
/// `runs best --by STAGE/NAME`: the runs, ordered by a metric.
int rank_runs(const RunsArguments& arguments);
/// `runs rm RUN...`: removes what the runs have written.
int remove_runs(const RunsArguments& arguments);

}  // namespace trainyard::tools
