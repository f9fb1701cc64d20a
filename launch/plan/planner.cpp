// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/planner.h"

#include <algorithm>
#include <numeric>

#include "launch/file/launch_file.h"
#include "launch/plan/activation.h"
#include "launch/plan/automatic.h"
#include "launch/plan/data_rules.h"
#include "launch/plan/environment_choice.h"
#include "launch/plan/memory_flow.h"
#include "launch/plan/memory_rules.h"
#include "launch/plan/parameters.h"
#include "launch/plan/placement.h"
#include "launch/plan/relays.h"
#include "launch/plan/wiring.h"

namespace trainyard::launch {
namespace {

/// Returns the keys of [run] that belong to the strategy manager: the names of its parameters.
std::vector<std::string> manager_keys(Catalogue& catalogue) {
  std::vector<std::string> keys;
  const auto is_manager = [](const PluginLabel& label) {
    return label.kind == "component" && label.name == kManagerPlugin;
  };
  if (std::ranges::none_of(catalogue.list(), is_manager)) return keys;
  for (const ParameterInfo& info : catalogue.info("component", kManagerPlugin).parameters) keys.push_back(info.name);
  return keys;
}

Plan copy_run(const LaunchFile& file) {
  Plan plan;
  plan.file = file.path;
  plan.sources = file.sources;
  plan.run = file.run.name;
  plan.output_directory = file.run.directory;
  plan.seed = file.run.seed;
  plan.log_level = file.run.log_level;
  plan.flush_denormals = file.run.flush_denormals;
  plan.start_timeout = file.run.start_timeout;
  plan.stop_timeout = file.run.stop_timeout;
  plan.progress_timeout = file.run.progress_timeout;
  if (file.topology.key_file) plan.key_file = file.topology.key_file->text;
  plan.join_timeout = file.topology.join_timeout;
  return plan;
}

/// Determines which processes bind TCP addresses. A thread has only one address, so one edge over TCP is enough.
void choose_addresses(Plan& plan) {
  for (const EdgePlan& edge : plan.edges) {
    // All threads of the process then use TCP, even threads that communicate only within this host. This is slower but
    // correct.
    if (edge.transport != Transport::kTcp) continue;
    std::ranges::find(plan.processes, plan.components[edge.from].process, &PlannedProcess::name)->tcp = true;
  }
}

/// Returns the links between components. Whether a link is run-wide depends on the topic in the plugin's declaration
/// and not on a remap, because a remap does not change what the messages are for.
std::vector<Link> links_of(const std::vector<EdgePlan>& edges, const std::vector<Draft>& drafts) {
  std::vector<Link> links;
  for (const EdgePlan& edge : edges) {
    const std::vector<core::PortInfo>& outputs = drafts[edge.from].info->outputs;
    const auto output = std::ranges::find(outputs, edge.output, &core::PortInfo::name);
    links.push_back({edge.from, edge.to, output->topic.starts_with('/')});
  }
  return links;
}

/// Determines how many ranks each host has.
void count_ranks(LaunchFile& file, const AllottedHosts& allotted, Catalogue& catalogue, Plan& plan) {
  if (allotted.launches > 1) settle_one_rank_each(file, allotted);
  plan.ranks_of_hosts = read_ranks_per_host(file, plan.hosts);
  if (allotted.launches > 1) {
    plan.ranks_of_hosts.assign(plan.hosts, 1);
  } else if (plan.ranks_of_hosts.empty()) {
    plan.ranks_of_hosts.assign(plan.hosts, settle_ranks(file, catalogue, plan.choices));
  } else {
    // Components that declare `devices` get the number of ranks of their host later (give_devices_of_host()).
    const std::int64_t first = plan.ranks_of_hosts.front();
    file.topology.given.emplace("devices", Value{first, file.topology.ranks_per_host->origin});
  }
  const auto all = std::accumulate(plan.ranks_of_hosts.begin(), plan.ranks_of_hosts.end(), std::uint64_t{0});
  plan.world_size = static_cast<std::uint32_t>(all);
  if (all <= kMostRanks) return;
  throw Error(Code::kInvalidArgument, "{}: {} ranks on {} hosts are too many; a run has at most {} ranks", plan.file,
              all, plan.hosts, kMostRanks);
}

}  // namespace

Plan make_plan(const std::string& path, const std::vector<std::string>& arguments, Catalogue& catalogue,
               const Machine& machine, const FindHosts& find_hosts) {
  // The order of the steps follows from their dependencies: topics need names; edges need topics and processes; the
  // addresses of processes and the order of activation need edges.
  LaunchFile file = load_launch_file(path, arguments, manager_keys(catalogue));
  Plan plan = copy_run(file);
  plan.arguments = arguments;
  plan.environment = settle_environment(file, catalogue);
  const AllottedHosts allotted = find_hosts ? find_hosts(plan.environment) : AllottedHosts{};
  plan.hosts = settle_hosts(file, allotted, plan.choices);
  plan.host_names = names_of_hosts(allotted);
  count_ranks(file, allotted, catalogue, plan);
  if (plan.hosts > 1) add_relay(file, catalogue);
  const MemberDeclarations members = declare_members(file);
  std::vector<Draft> drafts = draft_components(file, plan.world_size, catalogue, members);
  const RunHosts hosts{plan.hosts, plan.host_names, plan.ranks_of_hosts, allotted.launches};
  assign_hosts(drafts, hosts);
  remove_idle_relays(drafts);
  PlannedParameters planned = plan_parameters(file, drafts, catalogue);
  plan.choices.insert(plan.choices.end(), planned.choices.begin(), planned.choices.end());
  plan.warnings = std::move(planned.warnings);
  place(file, drafts, planned.needs, settle_placement(file, planned.needs, plan.world_size, plan.choices));
  name_topics(drafts);
  const Senders senders = find_senders(drafts);
  bridge_ranks(drafts, senders);
  plan.edges = connect(drafts, senders);
  check_data(drafts, plan.edges, catalogue);
  plan.memory = settle_memory(drafts, plan.edges, catalogue);
  plan.processes = plan_processes(file, drafts, hosts);
  check_memory(file, drafts, machine);
  for (Draft& draft : drafts) {
    if (draft.spec->is_member()) plan.members.emplace(draft.plan.index, *draft.info);
    plan.components.push_back(std::move(draft.plan));
  }
  choose_addresses(plan);
  plan.activation = activation_order(plan.components.size(), links_of(plan.edges, drafts));
  return plan;
}

}  // namespace trainyard::launch
