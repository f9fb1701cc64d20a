// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/placement.h"

#include <algorithm>

#include "launch/plan/draft.h"
#include "messages/nearest.h"

namespace trainyard::launch {

// The third step of the planner decides in which process and thread each component runs. The components of one process
// are restarted together, so their settings for restarts, environment and host must be compatible and are combined
// here.

namespace {

constexpr const char* kMain = "main";

/// Returns a name for one rank. Ranks never share a process or thread by accident: a name in the file is used once for
/// each rank.
std::string with_rank(const Draft& draft, const std::string& name) {
  return draft.rank_name.empty() ? name : draft.rank_name + "." + name;
}

/// Returns the name of a component's own process. It becomes part of socket names, so it has no '/'.
std::string own_process(const ComponentSpec& spec) {
  std::string name = spec.name;
  std::ranges::replace(name, '/', '.');
  return name;
}

/// Throws for placed components that do not exist. Members and external programs cannot be placed, because each is a
/// process already.
void check_placed_exist(const LaunchFile& file) {
  std::vector<std::string> known;
  for (const ComponentSpec& spec : file.components) {
    if (spec.command.empty()) known.push_back(spec.name);
    const auto placed = file.topology.placed.find(spec.name);
    if (!spec.is_member() || placed == file.topology.placed.end()) continue;
    throw error_at(
        placed->second.origin, "topology.placement." + placed->second.text,
        fmt::format("'{}' cannot be placed, because it is a member, which is a process of its own", spec.name));
  }
  for (const auto& [component, process] : file.topology.placed) {
    if (std::ranges::find(known, component) != known.end()) continue;
    throw error_at(process.origin, "topology.placement." + process.text,
                   fmt::format("no component is named '{}'{}", component, suggestion(component, known)));
  }
}

// The same word in both places is not a contradiction.
std::string process_of(const LaunchFile& file, const Draft& draft, Placement placement) {
  const ComponentSpec& spec = *draft.spec;
  const auto placed = file.topology.placed.find(spec.name);
  const bool in_table = placed != file.topology.placed.end();
  if (spec.process && in_table && spec.process->text != placed->second.text) {
    throw error_at(spec.process->origin, spec.key + ".process",
                   fmt::format("\"{}\" contradicts topology.placement ({}), which says \"{}\"", spec.process->text,
                               to_text(placed->second.origin), placed->second.text));
  }
  if (spec.process) return with_rank(draft, spec.process->text);
  if (in_table) return with_rank(draft, placed->second.text);
  // An address makes sense only for a process of its own.
  const bool elsewhere = draft.rank_name.empty() && draft.host != 0;
  if (placement == Placement::kProcesses || spec.tcp || spec.is_member() || elsewhere) {
    return with_rank(draft, own_process(spec));
  }
  return placement == Placement::kRanks && !draft.rank_name.empty() ? draft.rank_name : kMain;
}

std::string thread_of(const Draft& draft) {
  return with_rank(draft, draft.spec->thread ? draft.spec->thread->text : draft.info->component_traits().thread);
}

/// Adds the environment of one component to its process.
void join_environment(PlannedProcess& process, const ComponentSpec& spec) {
  for (const auto& [name, value] : spec.environment) {
    const auto [place, fresh] = process.environment.try_emplace(name, value);
    if (fresh || place->second == value) continue;
    throw error_at(spec.origin, spec.key + ".environment." + name,
                   fmt::format("\"{}\" contradicts \"{}\" of another component in the process '{}'", value,
                               place->second, process.name));
  }
}

void join(PlannedProcess& process, const Draft& draft) {
  const ComponentSpec& spec = *draft.spec;
  if (process.host != draft.host) {
    throw error_at(spec.origin, spec.key,
                   fmt::format("components of the process '{}' would be on the hosts {} and {}; a process is on one "
                               "host; placement = \"ranks\" gives every rank its own",
                               process.name, process.host, draft.host));
  }
  join_environment(process, spec);
  if (process.tcp != spec.tcp) {
    throw error_at(
        spec.origin, spec.key + ".host",
        fmt::format("components of the process '{}' have different hosts; all must have the same", process.name));
  }
  // The enumerators are ordered from never to always, so the most careful one decides.
  if (spec.respawn.when < process.respawn.when) process.respawn = spec.respawn;
  // The run needs the process if it needs anything in it.
  process.required = process.required || spec.required;
}

PlannedProcess start_process(const std::string& name, const ComponentSpec& spec) {
  PlannedProcess process;
  process.name = name;
  process.tcp = spec.tcp;
  process.environment = spec.environment;
  process.respawn = spec.respawn;
  process.required = spec.required;
  return process;
}

/// Returns the process of a member, which it does not share, whatever the placement.
PlannedProcess member_process(const Draft& draft) {
  PlannedProcess process = start_process(draft.plan.process, *draft.spec);
  process.command = draft.spec->command;
  process.member = true;
  process.cpus = draft.spec->cpus;
  return process;
}

/// Returns the process of an external program, which it does not share, whatever the placement.
PlannedProcess external_process(const ComponentSpec& spec) {
  PlannedProcess process = start_process(own_process(spec), spec);
  process.command = spec.command;
  check_cpus(spec);
  process.cpus = spec.cpus;
  process.parameters = to_json_text(spec.parameters, spec.key + ".params");
  return process;
}

/// A component whose new instance could not take the place of the old one would leave the others waiting for ever.
void check_respawn(const Draft& draft) {
  const ComponentSpec& spec = *draft.spec;
  if (spec.respawn.when == RespawnPolicy::When::kNever || draft.info->component_traits().restartable) return;
  throw error_at(spec.origin, spec.key + ".respawn",
                 fmt::format("\"{}\" is not allowed: a run cannot go on with a new {}, because others rely on what the "
                             "old one held; allowed is \"never\"",
                             name_of(spec.respawn.when), draft.plan.plugin),
                 Code::kUnsupported);
}

/// Throws if two components on one thread ask for different CPUs.
void check_threads(const std::vector<Draft>& drafts) {
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const ComponentPlan &a = drafts[k].plan, &b = drafts[i].plan;
      if (a.process != b.process || a.thread != b.thread || a.cpus == b.cpus || a.cpus.empty() || b.cpus.empty()) {
        continue;
      }
      throw error_at(drafts[i].spec->origin, drafts[i].spec->key + ".cpus",
                     fmt::format("contradicts the cpus of '{}', which shares the thread '{}' of the process '{}'",
                                 a.name, a.thread, a.process));
    }
  }
}

}  // namespace

void place(const LaunchFile& file, std::vector<Draft>& drafts, const StrategyNeeds& needs, Placement placement) {
  check_placed_exist(file);
  for (Draft& draft : drafts) {
    check_respawn(draft);
    draft.plan.process = process_of(file, draft, placement);
    draft.plan.thread = thread_of(draft);
  }
  check_threads(drafts);
  check_one_process(file, drafts, needs);
}

// The position in this list is the process's index, under which shared buffers count it.
std::vector<PlannedProcess> plan_processes(const LaunchFile& file, const std::vector<Draft>& drafts,
                                           const RunHosts& hosts) {
  std::vector<PlannedProcess> processes;
  const auto find = [&processes](const std::string& name) {
    return std::ranges::find(processes, name, &PlannedProcess::name);
  };
  for (const Draft& draft : drafts) {
    const auto process = find(draft.plan.process);
    if (process == processes.end()) {
      processes.push_back(draft.spec->is_member() ? member_process(draft)
                                                  : start_process(draft.plan.process, *draft.spec));
      processes.back().host = draft.host;
    } else if (process->member || draft.spec->is_member()) {
      throw error_at(draft.spec->origin, draft.spec->key,
                     fmt::format("the process '{}' is that of a member, which shares it with nobody", process->name));
    } else {
      join(*process, draft);
    }
  }
  for (const ComponentSpec& spec : file.components) {
    if (!spec.is_visitor()) continue;
    if (find(own_process(spec)) != processes.end()) {
      throw error_at(spec.origin, spec.key, fmt::format("a process '{}' exists already", own_process(spec)));
    }
    processes.push_back(external_process(spec));
    processes.back().host = host_of(spec, hosts);
  }
  return processes;
}

}  // namespace trainyard::launch
