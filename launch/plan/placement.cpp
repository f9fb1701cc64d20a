// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/placement.h"

#include <algorithm>

#include "launch/plan/draft.h"
#include "messages/nearest.h"

namespace trainyard::launch {

// In its third step, the planner determines the process and the thread of each component. The components of a process
// are started together, so their settings for restarts, environment and host must be compatible and are combined here.

namespace {

constexpr const char* kMain = "main";

/// Puts the name of the rank before the name of a process or thread. So if the file names a process for a component
/// that exists for each rank, each rank gets a separate process.
std::string with_rank(const Draft& draft, const std::string& name) {
  return draft.rank_name.empty() ? name : draft.rank_name + "." + name;
}

/// Returns the name of the process that a component has alone. The name must not contain '/', because it becomes part
/// of the names of sockets.
std::string own_process(const ComponentSpec& spec) {
  std::string name = spec.name;
  std::ranges::replace(name, '/', '.');
  return name;
}

/// Throws if the placement table names a component that does not exist. Members and external programs cannot be placed,
/// because each of them always has a separate process.
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

// Returns the process of a draft. It is allowed that the component's key `process` and the placement table name the
// same process.
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
  // A component with an address must have a separate process.
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
  // The enumerators are ordered from kNever to kAlways, so the most restrictive policy is used.
  if (spec.respawn.when < process.respawn.when) process.respawn = spec.respawn;
  // The process is required if any of its components is.
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

/// Returns the process of a member, which always has a separate process.
PlannedProcess member_process(const Draft& draft) {
  PlannedProcess process = start_process(draft.plan.process, *draft.spec);
  process.command = draft.spec->command;
  process.member = true;
  process.cpus = draft.spec->cpus;
  return process;
}

/// Returns the process of an external program, which always has a separate process.
PlannedProcess external_process(const ComponentSpec& spec) {
  PlannedProcess process = start_process(own_process(spec), spec);
  process.command = spec.command;
  check_cpus(spec);
  process.cpus = spec.cpus;
  process.parameters = to_json_text(spec.parameters, spec.key + ".params");
  return process;
}

/// Throws if a component with `respawn` is not restartable. The other components would wait forever for its new
/// instance.
void check_respawn(const Draft& draft) {
  const ComponentSpec& spec = *draft.spec;
  if (spec.respawn.when == RespawnPolicy::When::kNever || draft.info->component_traits().restartable) return;
  throw error_at(spec.origin, spec.key + ".respawn",
                 fmt::format("\"{}\" is not allowed: a run cannot go on with a new {}, because others rely on what the "
                             "old one held; allowed is \"never\"",
                             name_of(spec.respawn.when), draft.plan.plugin),
                 Code::kUnsupported);
}

/// Throws if two components on one thread are to be pinned to different CPUs.
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

// The position in the returned list is the index of the process, under which shared buffers count its references.
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
