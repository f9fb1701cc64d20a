// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/run_finder.h"

#include <CLI/CLI.hpp>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::tools {

void RunChoice::add_to(CLI::App& verb) {
  verb.add_option("--run", name, "which launch (default: the newest)")->type_name("NAME");
}

launch::RunInfo find_run(const RunChoice& choice, const std::string& base) {
  const std::vector<launch::RunInfo> runs = launch::list_runs(base);
  if (runs.empty()) throw Error(Code::kNotFound, "no launch is running (looked in {})", base);
  // If there are several runs, the user most likely means the one that was started last.
  if (choice.name.empty()) return runs.front();
  std::vector<std::string> known;
  for (const launch::RunInfo& run : runs) {
    // The list is sorted newest first, so the first match is the newest.
    if (run.run == choice.name || run.name == choice.name) return run;
    known.insert(known.end(), {run.run, run.name});
  }
  throw Error(Code::kNotFound, "no launch named '{}' is running{}", choice.name, suggestion(choice.name, known));
}

}  // namespace trainyard::tools
