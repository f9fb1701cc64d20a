// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "messages/control.h"

namespace trainyard::launch {

// The members are constructed in the order of their dependencies: the directory before the sockets in it, and the
// control channel before the crew, which needs its address.

namespace {

std::vector<std::string> processes_with_components(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedProcess& process : plan.processes) {
    if (process.has_components()) names.push_back(process.name);
  }
  return names;
}

/// Tells the guard about the run directory before it is made, so that the guard can always remove it. Returns the name
/// of the run.
std::string announced_run(const Plan& plan, const LaunchOptions& options, const GuardLink& guard) {
  std::string run = run_name(plan.run, ::getpid());
  guard.will_make(options.base + "/" + run);
  return run;
}

/// Tells the guard about the lock file before it is made, and returns the output directory. A plan without an output
/// directory, as in tests, needs no lock.
std::string announced_output(const Plan& plan, const GuardLink& guard) {
  if (!plan.output_directory.empty()) {
    guard.will_lock(std::filesystem::absolute(DirectoryLock::path_in(plan.output_directory)));
  }
  return plan.output_directory;
}

}  // namespace

RunContext::RunContext(const Plan& plan_in, const LaunchOptions& options_in, const GuardLink& guard_in,
                       Crew::Reports reports)
    : plan(plan_in),
      options(options_in),
      guard(guard_in),
      directory(options.base, announced_run(plan, options, guard)),
      places{{.run_directory = directory.path(), .plugin_path = options.plugin_path}},
      output(announced_output(plan, guard), this_launcher(directory.run(), plan.file)),
      keys(core::RunKeys::make()),
      admission(sockets, {keys.public_key}),
      calls(loop),
      control(sockets, loop, directory.endpoint("control"), keys,
              [this](const std::string& process, const std::string& what) {
                console.say(fmt::format("process '{}' sent {}", process, what));
              }),
      crew(loop, console, plan,
           {options.process_program, control.endpoint(), directory.run(), directory.path(), keys.text(),
            plan.flush_denormals, options.wrapper, options.wrapped_process, options.engine_signals},
           std::move(reports)),
      barrier(processes_with_components(plan)),
      states(plan.components.size(), State::kUnconfigured) {
  loop.watch_socket(admission.socket(), [this] {
    while (admission.poll()) {
    }
  });
}

std::vector<std::uint32_t> RunContext::components_of(const std::string& process) const {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t component : plan.activation) {
    if (plan.components[component].process == process) found.push_back(component);
  }
  return found;
}

const core::PluginInfo* RunContext::declaration_of(const ComponentPlan& component) const {
  const auto member = plan.members.find(component.index);
  if (member != plan.members.end()) return &member->second;
  const auto plugin = options.plugins.find(component.plugin);
  return plugin == options.plugins.end() ? nullptr : &plugin->second;
}

void RunContext::ask(std::uint32_t component, State state) {
  control.send(process_of(component), Transition{plan.components[component].name, std::string(name_of(state))});
}

void RunContext::call(const std::string& process, const std::string& component, const std::string& method,
                      const std::string& body, std::chrono::milliseconds deadline, CallTable::Answer answer) {
  const std::string what = component.empty() ? method : fmt::format("'{}' of component '{}'", method, component);
  // The call is recorded before it is sent, so that it is known when the answer arrives.
  const std::uint64_t id =
      calls.open(process, what, deadline, [this, method, answer = std::move(answer)](bool ok, const std::string& text) {
        if (ok && method == "pause") ++pauses;
        if (ok && method == "go_on" && pauses > 0) --pauses;
        answer(ok, text);
      });
  if (!control.send(process, Request{id, component, method, body})) {
    calls.answered(id, false, fmt::format("{}: process '{}' is not there", what, process));
  }
}

std::string describe_component(const ComponentPlan& component) {
  return fmt::format("component '{}' (process {}, plugin {})", component.name, component.process, component.plugin);
}

// The description contains the components, because users know their names better than those of processes.
std::string describe_process(const RunContext& run, const ChildProcess& child) {
  std::vector<std::string> components;
  for (const std::uint32_t i : run.components_of(child.name())) components.push_back(run.plan.components[i].name);
  if (components.empty()) return fmt::format("program '{}'", child.name());
  return fmt::format("process '{}' ({})", child.name(), fmt::join(components, ", "));
}

}  // namespace trainyard::launch
