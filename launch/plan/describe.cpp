// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "launch/plan/plan.h"
#include "launch/plan/text_column.h"

namespace trainyard::launch {
namespace {

using nlohmann::json;

std::string seconds(std::chrono::milliseconds time) { return fmt::format("{} s", time.count() / 1000.0); }

/// Returns a size as text, such as "256 MiB" for 268435456. A larger unit is used only if no rounding is necessary, so
/// 1000000 becomes "1000000 B".
std::string bytes(std::uint64_t count) {
  constexpr std::array<std::string_view, 4> kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && count >= 1024 && count % 1024 == 0) {
    count /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", count, kUnits[unit]);
}

std::string cpus(const std::vector<std::uint32_t>& list) {
  return list.empty() ? "" : fmt::format(", cpus {}", fmt::join(list, " "));
}

/// Adds the parameters, one on each line. Parameters in nested tables get dotted names, as on the command line.
void add_parameters(TextColumn& out, std::size_t indent, const std::string& name, const json& value) {
  // An empty table is shown as a value.
  if (!value.is_object() || value.empty()) {
    if (!name.empty()) out.line(indent, fmt::format("{} = {}", name, value.dump()));
    return;
  }
  for (const auto& [key, element] : value.items()) {
    add_parameters(out, indent, name.empty() ? key : name + "." + key, element);
  }
}

void add_run(TextColumn& out, const Plan& plan) {
  out.line(0, fmt::format("run        {}", plan.run));
  out.line(0, fmt::format("file       {}", plan.file));
  out.line(0, fmt::format("output     {}", plan.output_directory));
  out.line(0, fmt::format("seed       {}", plan.seed));
  out.line(0, fmt::format("ranks      {}", plan.world_size));
  if (plan.hosts > 1) out.line(0, fmt::format("hosts      {}", plan.hosts));
  out.line(0, fmt::format("log level  {}", name_of(plan.log_level)));
  out.line(0, fmt::format("deadlines  start {}, stop {}, progress {}", seconds(plan.start_timeout),
                          seconds(plan.stop_timeout),
                          plan.progress_timeout.count() == 0 ? "none" : seconds(plan.progress_timeout)));
}

/// Adds what the planner has decided where the file leaves the choice open.
void add_choices(TextColumn& out, const Plan& plan) {
  if (!plan.choices.empty()) {
    out.line(0, "");
    out.line(0, "chosen");
  }
  for (const Choice& choice : plan.choices) {
    const std::string given = choice.given.empty() ? "not given" : "given as " + choice.given;
    out.line(2, fmt::format("{} = {} ({}): {}", choice.key, choice.chosen, given, choice.reason));
  }
}

/// Adds what is copied between host memory and device memory.
void add_memory(TextColumn& out, const Plan& plan) {
  if (!plan.memory.empty()) {
    out.line(0, "");
    out.line(0, "memory");
  }
  for (const MemoryFlow& flow : plan.memory) {
    out.line(2, fmt::format("rank {} trains in the memory of {}", flow.rank, flow.accelerator));
    out.line(4, "per step      the batch to the device");
    if (flow.host_updates_because.empty()) {
      out.line(
          4, fmt::format(
                 "never         gradients and parameters: the optimizer works on the device{}",
                 flow.shared_by.empty() ? "" : ", from its own process, through the device plugin " + flow.shared_by));
    } else {
      out.line(4, fmt::format("per step      gradients to the host, parameters to the device: {}",
                              flow.host_updates_because));
    }
    if (!flow.strategy.empty()) {
      out.line(4, fmt::format("per step      what the strategy {} exchanges between ranks, through host memory{}",
                              flow.strategy,
                              flow.collective == "auto"
                                  ? ""
                                  : fmt::format(" unless the collective {} works on the device", flow.collective)));
    }
    if (!flow.readers.empty()) {
      out.line(4,
               fmt::format("per step      parameters and buffers to the host, for {}", fmt::join(flow.readers, ", ")));
    }
    if (!flow.savers.empty()) {
      out.line(4, fmt::format("per snapshot  {} to the host, for {}",
                              flow.host_updates_because.empty() ? "parameters, buffers and optimizer state" : "buffers",
                              fmt::join(flow.savers, ", ")));
    }
  }
}

/// Returns the title of a process, with only those settings that differ from the default.
std::string process_title(const Plan& plan, const PlannedProcess& process) {
  std::string title = "process " + process.name;
  if (plan.hosts > 1) title += ", " + describe_host(plan, process.host);
  if (process.tcp) title += plan.hosts > 1 ? ", tcp" : ", 127.0.0.1";
  if (process.respawn.when != RespawnPolicy::When::kNever) {
    title += fmt::format(", respawn {} ({} ms apart, {} within {})", name_of(process.respawn.when),
                         process.respawn.delay.count(), process.respawn.max, seconds(process.respawn.window));
  }
  if (!process.required) title += ", not required";
  return title + cpus(process.cpus);
}

/// Adds a component. The name of its plugin is shown only if it differs from the component's name.
void add_component(TextColumn& out, const ComponentPlan& component) {
  const std::string plugin = component.plugin == component.name ? "" : fmt::format(" ({})", component.plugin);
  out.line(4, component.name + plugin + cpus(component.cpus));
  add_parameters(out, 6, "", json::parse(component.parameters));
}

/// Adds a process with its threads, in alphabetical order, and their components, in the order of the plan.
void add_process(TextColumn& out, const Plan& plan, const PlannedProcess& process) {
  out.line(0, "");
  out.line(0, process_title(plan, process));
  for (const auto& [name, value] : process.environment) out.line(2, fmt::format("{}={}", name, value));
  if (!process.command.empty()) {
    out.line(2, fmt::format("{}", fmt::join(process.command, " ")));
    add_parameters(out, 6, "", json::parse(process.parameters));
  }
  // The set sorts the threads alphabetically, which is also the order of the numbers of their sockets.
  std::set<std::string> threads;
  for (const ComponentPlan& component : plan.components) {
    if (component.process == process.name) threads.insert(component.thread);
  }
  for (const std::string& thread : threads) {
    out.line(2, "thread " + thread);
    for (const ComponentPlan& component : plan.components) {
      if (component.process == process.name && component.thread == thread) add_component(out, component);
    }
  }
}

/// Adds the edges, with two lines for each: its two ends, and its properties.
void add_edges(TextColumn& out, const Plan& plan) {
  out.line(0, "");
  out.line(0, fmt::format("{} edges", plan.edges.size()));
  for (const EdgePlan& edge : plan.edges) {
    out.line(2, fmt::format("{}: {}.{} -> {}.{}", edge.topic, plan.components[edge.from].name, edge.output,
                            plan.components[edge.to].name, edge.input));
    out.line(6, fmt::format("{}, {}, {} messages, {}", name_of(edge.transport), name_of(edge.policy),
                            edge.window_messages, bytes(edge.window_bytes)));
  }
}

void add_activation(TextColumn& out, const Plan& plan) {
  std::vector<std::string> names;
  for (const std::uint32_t index : plan.activation) names.push_back(plan.components[index].name);
  out.line(0, "");
  out.line(0, "activation");
  out.line(2, fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace

std::string describe(const Plan& plan) {
  TextColumn out;
  add_run(out, plan);
  add_choices(out, plan);
  add_memory(out, plan);
  for (const PlannedProcess& process : plan.processes) add_process(out, plan, process);
  add_edges(out, plan);
  add_activation(out, plan);
  return out.text();
}

}  // namespace trainyard::launch
