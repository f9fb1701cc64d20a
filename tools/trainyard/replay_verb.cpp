// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/launching.h"
#include "tools/trainyard/past_runs.h"
#include "tools/trainyard/replay.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

struct ReplayArguments {
  std::string run;
  std::string folder = kRunsFolder;
  std::uint64_t step = 0;
  std::string output;
  std::string with;
  bool keep = false;
};

constexpr const char* kReplayFooter =
    "Examples:\n"
    "  trainyard replay gpt --step 41237\n"
    "  trainyard replay gpt --step 41237 --with 'perf record -o step.perf'\n"
    "  trainyard replay gpt --step 41237 --with 'gdb -batch -return-child-result -ex run --args'\n\n"
    "Exit codes: 0 if the results are bit-identical to the recorded ones or none\n"
    "were recorded, 1 if they differ.";

/// Prints the recorded values and the computed values side by side. Returns the exit code.
int report(const Replay& replay) {
  const std::vector<ReplayedMetric> metrics = compare(replay);
  if (metrics.empty()) {
    fmt::print("step {}: loss {}; the run did not record this step\n", replay.step, replayed_loss(replay).value_or(0));
    return kExitOk;
  }
  bool all_same = true;
  for (const ReplayedMetric& metric : metrics) {
    all_same = all_same && metric.same();
    fmt::print("step {}: {} {}, {}\n", replay.step, metric.name, metric.computed,
               metric.same() ? "the same bits as recorded" : fmt::format("but {} was recorded", metric.recorded));
  }
  return all_same ? kExitOk : kExitFailed;
}

int run(const ReplayArguments& arguments) {
  const Replay replay =
      prepare_replay(find_past_run(arguments.run, arguments.folder).directory, arguments.step, arguments.output);
  fmt::print("replaying step {} from {}\n", replay.step,
             replay.checkpoint.empty() ? "the start of the run" : replay.checkpoint);
  std::fflush(stdout);
  const LaunchChoices choices{.name = fmt::format("replay_{}", replay.step),
                              .wrapper = CLI::detail::split_up(arguments.with)};
  std::filesystem::current_path(replay.working_directory);
  const pid_t guard = ::getpid();
  const int code =
      launch::run_guarded([&](const launch::GuardLink& link) { return run_launch(replay.launch, choices, link); });
  // run_guarded() returns in both the launcher and the guard. Only the guard prints the report.
  if (::getpid() != guard) return code;
  const int verdict = code == kExitOk ? report(replay) : code;
  if (!arguments.keep) std::filesystem::remove_all(replay.output);
  if (arguments.keep) fmt::print("the results are in {}\n", replay.output);
  return verdict;
}

}  // namespace

void add_replay(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("replay", "Compute a step of a past run again; compare the results");
  verb->footer(kReplayFooter);
  const auto arguments = std::make_shared<ReplayArguments>();
  verb->add_option("RUN", arguments->run, "as `trainyard runs list` names it, or its folder")->required();
  verb->add_option("--step", arguments->step, "the number of the step in the metrics")
      ->required()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62))
      ->type_name("N");
  verb->add_option("--with", arguments->with, "run the process of the accelerator host (rank 0)\nunder this command")
      ->type_name("COMMAND");
  verb->add_option("--output", arguments->output,
                   "folder for the results, removed at the end (default:\nreplay-N in the folder of the run)")
      ->type_name("FOLDER");
  verb->add_option("--in", arguments->folder, "search this folder for runs by name (runs)")->type_name("FOLDER");
  verb->add_flag("--keep", arguments->keep, "keep the results");
  verb->callback([=, &chosen] { chosen = [=] { return run(*arguments); }; });
}

}  // namespace trainyard::tools
