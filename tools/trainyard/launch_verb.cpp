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
    "Ctrl-C stops the run properly, with a checkpoint; a second Ctrl-C ends all\n"
    "processes at once.";

/// Returns the signals with which the engine tells all its processes to stop, except SIGINT, which the terminal and the
/// launcher use.
std::vector<int> signals_of(const launch::Engine& engine) {
  if (!engine.allocation.stop.to_all_processes) return {};
  std::vector<int> signals = engine.allocation.stop.signals;
  std::erase(signals, SIGINT);
  return signals;
}

/// Returns a function that finds the engine that has started this launch, and stores it in `engine`.
launch::FindHosts finder_of(launch::Engine& engine) {
  return [&engine](const PluginSpec& environment) -> launch::AllottedHosts {
    core::PluginLoader loader(core::PluginLoader::default_directories());
    engine = launch::find_engine(loader, environment, environments::facts_of_this_process());
    return {engine.environment, engine.allocation.hosts, engine.allocation.names, engine.allocation.processes};
  };
}

/// Runs the part of this host in a run on several hosts, and returns the exit code.
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

/// Returns the name of the component's process. If the component exists for each rank, returns the process of rank 0.
std::string process_of(const launch::Plan& plan, const std::string& component) {
  for (const ComponentPlan& planned : plan.components) {
    if (planned.name == component || planned.name == "rank0/" + component) return planned.process;
  }
  throw Error(Code::kNotFound, "the launch has no component '{}' to be run under another program", component);
}

}  // namespace

// The launch file is checked completely before any process of the run starts.
int run_launch(const LaunchArguments& arguments, const LaunchChoices& choices, const launch::GuardLink& guard) {
  const std::unique_ptr<launch::ScannedCatalogue> catalogue = open_catalogue();
  // Planning loads no plugin into this process, so the launcher stays small and no plugin can crash it. The only
  // exceptions are environments, the plugins that find out which engine has started the launch.
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
  // With this information, the registry can describe ports and schemas without asking the processes.
  for (const ComponentPlan& component : plan.components) {
    if (!plan.members.contains(component.index) && !options.plugins.contains(component.plugin)) {
      options.plugins[component.plugin] = catalogue->info("component", component.plugin);
    }
  }
  if (plan.hosts > 1) return run_on_hosts(plan, engine, catalogue->list(), options, guard);
  return launch::Supervisor(plan, options, guard).run();
}

void add_launch(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("launch", "Start a run and wait until it ends")->footer(kLaunchFooter);
  const auto arguments = std::make_shared<LaunchArguments>();
  const auto name = std::make_shared<std::string>();
  arguments->add_to(*verb);
  verb->add_option("--name", *name, "name of the run, for --run of other verbs")->type_name("NAME");
  verb->callback([=, &chosen] {
    // The guard is started before planning, because planning may already start processes that describe plugins.
    chosen = [=] {
      return launch::run_guarded(
          [&](const launch::GuardLink& guard) { return run_launch(*arguments, {.name = *name}, guard); });
    };
  });
}

}  // namespace trainyard::tools
