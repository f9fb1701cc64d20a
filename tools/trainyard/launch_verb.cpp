// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/plugin/loader.h"
#include "environments/process_facts.h"
#include "launch/hosts/agent.h"
#include "launch/hosts/host_door.h"
#include "launch/hosts/host_settings.h"
#include "launch/run/engine.h"
#include "launch/run/guard.h"
#include "launch/run/process_program.h"
#include "launch/run/supervisor.h"
#include "messages/error.h"
#include "tools/trainyard/launching.h"
#include "tools/trainyard/verbs.h"
#include "tools/trainyard/versions.h"

namespace trainyard::tools {
namespace {

constexpr const char* kLaunchFooter =
    "Examples:\n"
    "  trainyard launch quickstart.toml\n"
    "  trainyard launch mnist.toml folder=mnist placement=processes\n"
    "  trainyard launch mlp.toml component.data_loader.params.batch_size=128\n\n"
    "Ctrl-C stops the run in order, with a checkpoint; a second one ends all\n"
    "processes at once.";

/// Returns the signals with which the engine tells all processes to stop; SIGINT is left to the terminal and to the
/// launcher.
std::vector<int> signals_of(const launch::Engine& engine) {
  if (!engine.allocation.stop.to_all_processes) return {};
  std::vector<int> signals = engine.allocation.stop.signals;
  std::erase(signals, SIGINT);
  return signals;
}

/// Returns a function that finds the engine that has started this launch, and remembers it in `engine`.
launch::FindHosts finder_of(launch::Engine& engine) {
  return [&engine](const PluginSpec& environment) -> launch::AllottedHosts {
    core::PluginLoader loader(core::PluginLoader::default_directories());
    engine = launch::find_engine(loader, environment, environments::facts_of_this_process());
    return {engine.environment, engine.allocation.hosts, engine.allocation.names, engine.allocation.processes};
  };
}

/// Runs this host's part of a run on several hosts.
int run_on_hosts(const launch::Plan& plan, const launch::Engine& engine, const std::vector<PluginLabel>& plugins,
                 launch::LaunchOptions options, const launch::GuardLink& guard) {
  launch::RunConsole console;
  if (const std::string launches = launch::describe_launches(engine); !launches.empty()) console.say(launches);
  const launch::HostSettings settings = launch::host_settings(plan, engine, plugins);
  if (settings.self.host != 0) return launch::Agent(plan, settings, options, guard).run();
  launch::HostDoor door(plan, settings);
  door.gather(console);
  options.hosts = &door;
  return launch::Supervisor(plan, options, guard).run();
}

/// Returns the process of the component. If it exists for each rank, returns that of rank 0.
std::string process_of(const launch::Plan& plan, const std::string& component) {
  for (const ComponentPlan& planned : plan.components) {
    if (planned.name == component || planned.name == "rank0/" + component) return planned.process;
  }
  throw Error(Code::kNotFound, "the launch has no component '{}' to be run under another program", component);
}

}  // namespace

// A mistake in the launch file is found before any process starts.
int run_launch(const LaunchArguments& arguments, const LaunchChoices& choices, const launch::GuardLink& guard) {
  const std::unique_ptr<launch::ScannedCatalogue> catalogue = open_catalogue();
  // This loads no plugin into the process, so the launcher stays small and no plugin can crash it. Environments are the
  // only plugins that the launcher loads.
  launch::Engine engine;
  launch::Plan plan = plan_from(arguments, *catalogue, finder_of(engine));
  launch::forget_variables(engine);
  launch::LaunchOptions options;
  options.engine_signals = signals_of(engine);
  if (!choices.name.empty()) plan.run = choices.name;
  options.process_program = launch::find_process_program();
  options.plugin_path = core::PluginLoader::default_directories();
  options.versions = installed_versions();
  if (!choices.wrapper.empty()) {
    options.wrapper = choices.wrapper;
    options.wrapped_process = process_of(plan, choices.wrapped_component);
  }
  // The registry answers with ports and schemas from here, without asking the processes.
  for (const ComponentPlan& component : plan.components) {
    if (!plan.members.contains(component.index) && !options.plugins.contains(component.plugin)) {
      options.plugins[component.plugin] = catalogue->info("component", component.plugin);
    }
  }
  if (plan.hosts > 1) return run_on_hosts(plan, engine, catalogue->list(), options, guard);
  return launch::Supervisor(plan, options, guard).run();
}

void add_launch(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("launch", "Start a run and stay with it until it ends")->footer(kLaunchFooter);
  const auto arguments = std::make_shared<LaunchArguments>();
  const auto name = std::make_shared<std::string>();
  arguments->add_to(*verb);
  verb->add_option("--name", *name, "name of the run, for --run of other verbs")->type_name("NAME");
  verb->callback([=, &chosen] {
    // The guard exists from the beginning, because planning may already start processes that describe plugins.
    chosen = [=] {
      return launch::run_guarded(
          [&](const launch::GuardLink& guard) { return run_launch(*arguments, {.name = *name}, guard); });
    };
  });
}

}  // namespace trainyard::tools
