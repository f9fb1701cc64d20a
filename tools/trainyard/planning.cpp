// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/planning.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "launch/plan/planner.h"
#include "launch/run/process_program.h"
#include "messages/error.h"

namespace trainyard::tools {

namespace {

void say_what_changes_results(const launch::Plan& plan) {
  for (const launch::Choice& choice : plan.choices) {
    if (!choice.changes_results) continue;
    std::fprintf(stderr, "%s = %s (given as %s): %s\n", choice.key.c_str(), choice.chosen.c_str(), choice.given.c_str(),
                 choice.reason.c_str());
  }
}

}  // namespace

void LaunchArguments::add_to(CLI::App& verb) {
  verb.add_option("FILE", file, "launch file (TOML)")->required();
  // All further words are accepted. Which of them is an argument is known only when the file has been read. The name
  // that is shown cannot be "name=value", because CLI11 2.4 (Debian 13) does not allow '=' in a name.
  verb.add_option("ARGUMENT", values,
                  "NAME=VALUE: an argument of the file, a key of [run] or\n"
                  "[topology], or any value by its path, such as\n"
                  "component.optimizer.params.lr=0.1");
}

std::unique_ptr<launch::ScannedCatalogue> open_catalogue() {
  // This is a pointer because the destructor writes the cache, which must happen once.
  return std::make_unique<launch::ScannedCatalogue>(core::PluginLoader::default_directories(),
                                                    launch::find_process_program());
}

launch::Plan plan_from(const LaunchArguments& arguments, launch::ScannedCatalogue& catalogue,
                       const launch::FindHosts& find_hosts) {
  try {
    launch::Plan plan =
        launch::make_plan(arguments.file, arguments.values, catalogue, launch::this_machine(), find_hosts);
    for (const std::string& warning : plan.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    say_what_changes_results(plan);
    return plan;
  } catch (const Error& error) {
    // A missing plugin is bad input, too: the caller has to correct the file.
    throw Error(Code::kInvalidArgument, "{}", error.what());
  }
}

}  // namespace trainyard::tools
