// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/trainyard/runs.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

constexpr const char* kRunsFooter =
    "RUN is an output directory, a name below runs/, or the full name of a\n"
    "launch, such as mnist-9ix.\n"
    "Examples:\n"
    "  trainyard runs list\n"
    "  trainyard runs compare mnist mnist-wide\n"
    "  trainyard runs best --by validate/accuracy --max\n"
    "  trainyard runs rm mnist --yes";

using Arguments = std::shared_ptr<RunsArguments>;

/// Adds one subcommand of `runs`, with the options that all of them have in common.
CLI::App* add_verb(CLI::App& family, const Arguments& arguments, Action& chosen, const char* name, const char* help,
                   int (*action)(const RunsArguments&)) {
  CLI::App* verb = family.add_subcommand(name, help);
  verb->add_flag("--json", arguments->as_json, "print JSON, for other programs");
  verb->callback([=, &chosen] { chosen = [=] { return action(*arguments); }; });
  return verb;
}

void take_folders(CLI::App& verb, const Arguments& arguments) {
  verb.add_option("FOLDER", arguments->folders, "where to look for runs (runs)");
}

void take_runs(CLI::App& verb, const Arguments& arguments, int least) {
  CLI::Option* runs = verb.add_option("RUN", arguments->runs, "output directories or names of runs")->required();
  least == 1 ? runs->expected(1, 1'000'000) : runs->expected(least, 1'000'000);
  verb.add_option("--in", arguments->folder, "search this folder for runs by name (runs)")->type_name("FOLDER");
}

}  // namespace

void add_runs(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("runs", "Runs on disk, past and present")->require_subcommand(1);
  family->footer(kRunsFooter);
  const auto arguments = std::make_shared<RunsArguments>();
  take_folders(*add_verb(*family, arguments, chosen, "list", "One line for each run; * marks active runs", list_runs),
               arguments);

  CLI::App* show =
      add_verb(*family, arguments, chosen, "show", "What made a run, how it ended, and its metrics", show_run);
  show->add_option("RUN", arguments->runs, "an output directory or the name of a run")->required()->expected(1);
  show->add_option("--in", arguments->folder, "search this folder for runs by name (runs)")->type_name("FOLDER");

  CLI::App* compare =
      add_verb(*family, arguments, chosen, "compare", "Parameters and metrics side by side", compare_runs);
  take_runs(*compare, arguments, 2);
  compare->add_flag("--differences", arguments->differences, "only the parameters that differ");

  CLI::App* best = add_verb(*family, arguments, chosen, "best", "Runs ordered by a metric, best first", rank_runs);
  take_folders(*best, arguments);
  best->add_option("--by", arguments->by, "the metric (validate/loss)")->type_name("STAGE/NAME");
  best->add_flag("--max", arguments->largest, "the largest value is the best");
  best->add_option("--count", arguments->count, "number of runs to show (10)")->check(CLI::Range(1, 1'000'000));

  CLI::App* remove = add_verb(*family, arguments, chosen, "rm", "Remove what runs have written", remove_runs);
  take_runs(*remove, arguments, 1);
  remove->add_flag("--yes", arguments->yes, "do not ask for confirmation");
}

}  // namespace trainyard::tools
