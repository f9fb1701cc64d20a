// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/planning.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

int show_plan(const LaunchArguments& arguments, bool json) {
  const launch::Plan plan = plan_from(arguments, *open_catalogue());
  const std::string text = json ? launch::to_json(plan) : launch::describe(plan);
  std::printf("%s%s", text.c_str(), text.ends_with('\n') ? "" : "\n");
  return kExitOk;
}

/// Checks a launch file. Reports the same errors as a launch would.
int check(const LaunchArguments& arguments) {
  const launch::Plan plan = plan_from(arguments, *open_catalogue());
  const std::size_t processes = plan.processes.size();
  std::printf("%s: ok (%zu components in %zu process%s, %zu edges)\n", plan.file.c_str(), plan.components.size(),
              processes, processes == 1 ? "" : "es", plan.edges.size());
  return kExitOk;
}

}  // namespace

void add_plan(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("plan", "Show what a launch file expands to; starts nothing");
  verb->footer("Examples:\n  trainyard plan mnist.toml placement=processes\n  trainyard plan mnist.toml --json");
  const auto arguments = std::make_shared<LaunchArguments>();
  const auto json = std::make_shared<bool>(false);
  arguments->add_to(*verb);
  verb->add_flag("--json", *json, "print JSON, for other programs");
  verb->callback([=, &chosen] { chosen = [=] { return show_plan(*arguments, *json); }; });
}

void add_check(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("check", "Check whether a launch file can be run; starts nothing");
  verb->footer("Example:\n  trainyard check mnist.toml accelerator=cpu");
  const auto arguments = std::make_shared<LaunchArguments>();
  arguments->add_to(*verb);
  verb->callback([=, &chosen] { chosen = [=] { return check(*arguments); }; });
}

}  // namespace trainyard::tools
