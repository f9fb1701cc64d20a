// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/plan.h"

#include <fmt/format.h>

#include <numeric>
#include <set>

namespace trainyard::launch {

// In the last step, the launcher makes the part of the plan that it sends to each process.

namespace {

/// Returns the address of each thread. The paths of sockets contain indices instead of names to keep them short,
/// because they can have only 107 bytes, and a name can have 64.
std::map<std::string, std::string> bind_addresses(const PlannedProcess& process, std::size_t process_index,
                                                  const std::set<std::string>& threads, const RunPlace& place) {
  const bool is_v6 = place.address.find(':') != std::string::npos;
  const std::string address = is_v6 ? "[" + place.address + "]" : place.address;
  std::map<std::string, std::string> bind;
  for (const std::string& thread : threads) {
    bind[thread] = process.tcp ? fmt::format("tcp://{}:*", address)
                               : fmt::format("ipc://{}/{}.{}", place.run_directory, process_index, bind.size());
  }
  return bind;
}

}  // namespace

ProcessPlan process_plan(const Plan& plan, std::size_t process_index, const RunPlace& place) {
  const PlannedProcess& process = plan.processes.at(process_index);
  ProcessPlan out;
  out.run = plan.run;
  out.run_directory = place.run_directory;
  out.output_directory = plan.output_directory;
  out.process = process.name;
  out.process_index = static_cast<std::uint32_t>(process_index);
  out.seed = plan.seed;
  out.log_level = plan.log_level;
  out.plugin_path = place.plugin_path;
  // All components are included, because a process needs to know the components at the other ends of its edges.
  out.components = plan.components;
  std::set<std::string> threads;
  for (const ComponentPlan& component : plan.components) {
    if (component.process == process.name) threads.insert(component.thread);
  }
  out.bind = bind_addresses(process, process_index, threads, place);
  for (const EdgePlan& edge : plan.edges) {
    const bool sends = plan.components[edge.from].process == process.name;
    const bool receives = plan.components[edge.to].process == process.name;
    if (sends || receives) out.edges.push_back(edge);
  }
  return out;
}

std::string describe_host(const Plan& plan, std::uint32_t host) {
  if (host >= plan.host_names.size()) return fmt::format("host {}", host);
  return fmt::format("host {} ({})", host, plan.host_names[host]);
}

std::string describe_ranks(const Plan& plan, std::uint32_t host) {
  const auto its = plan.ranks_of_hosts.begin() + host;
  const std::uint32_t first = std::accumulate(plan.ranks_of_hosts.begin(), its, 0u);
  return *its == 1 ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, first + *its - 1);
}

}  // namespace trainyard::launch
