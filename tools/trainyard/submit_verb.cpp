// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/planning.h"
#include "tools/trainyard/submit/engine.h"
#include "tools/trainyard/submit/options.h"
#include "tools/trainyard/submit/planned_job.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

constexpr const char* kSubmitFooter =
    "FILE and NAME=VALUE are the same as for `launch`, and are checked in the\n"
    "same way before the run is submitted.\n\n"
    "Examples:\n"
    "  trainyard submit mnist.toml folder=mnist --engine slurm --time 2h\n"
    "  trainyard submit mnist.toml --engine jobset --image trainyard --dry-run\n"
    "  trainyard submit mlp.toml --engine mpirun --hosts a";

/// Returns the path of `trainyard` on the hosts. On a cluster, this is normally the path of this program, because all
/// hosts have the same folders. In a container image, `trainyard` is found through PATH.
std::string program_for(const std::string& engine) {
  if (engine == "jobset" || engine == "trainjob") return "trainyard";
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

int run_submit(const LaunchArguments& arguments, const submit::Options& options) {
  options.check_engine();
  const bool restarts = options.restarts_or_default() > 0;
  submit::PlannedJob planned = submit::plan_job(arguments.file, arguments.values, *open_catalogue(), restarts);
  planned.job.program = program_for(options.engine);
  options.complete(planned.job);
  const std::unique_ptr<submit::Engine> engine = submit::find_engine(options.engine);
  for (const std::string& note : planned.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  if (!options.dry_run) return engine->hand_over(planned.job);
  std::fputs(engine->text(planned.job).c_str(), stdout);
  return kExitOk;
}

}  // namespace

void add_submit(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("submit", "Submit a run to Slurm, Kubernetes or mpirun")->footer(kSubmitFooter);
  const auto arguments = std::make_shared<LaunchArguments>();
  const auto options = std::make_shared<submit::Options>();
  arguments->add_to(*verb);
  options->add_to(*verb);
  verb->callback([=, &chosen] { chosen = [=] { return run_submit(*arguments, *options); }; });
}

}  // namespace trainyard::tools
