// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// The hosts that an engine, such as Slurm, has allotted to the run.
struct AllottedHosts {
  /// The name of the environment that has provided the number of hosts; empty if no environment was asked.
  std::string environment;
  std::uint32_t count = 1;
  std::vector<std::string> names;  ///< The names, by the number of the host; empty if the engine does not provide them.
  /// How many times the engine has started `trainyard launch` for this run on each host. If there are several such
  /// launches, each of them has one rank and counts as a host of the run.
  std::uint32_t launches = 1;
};

/// The hosts of a run.
struct RunHosts {
  std::uint32_t count = 1;
  std::vector<std::string> names;  ///< The names of the hosts, by the number of the host; empty if they are not known.
  std::vector<std::uint32_t> ranks;  ///< The number of ranks of each host, by the number of the host.
  std::uint32_t launches = 1;        ///< The number of hosts of the run on each machine; see AllottedHosts::launches.
};

/// Returns the number of hosts of the run: `topology.nodes`, or else what the engine has allotted. Throws, with the
/// position in the file, if the number is not allowed or differs from what the engine has allotted. If the engine
/// starts several launches on each machine, each launch counts as a host of the run. `topology.nodes`, however, counts
/// machines, so it is multiplied by the number of launches on each machine.
std::uint32_t settle_hosts(const LaunchFile& file, const AllottedHosts& allotted, std::vector<Choice>& choices);

/// Returns the names of the hosts of the run; empty if the engine does not provide names. If there are several launches
/// on each machine, each name occurs once for each launch.
std::vector<std::string> names_of_hosts(const AllottedHosts& allotted);

/// Adapts `devices` in `file` to an engine that starts several launches on each machine, one for each rank. If
/// `devices` is missing or -1, it becomes the number of launches on each machine; "auto" becomes 1. Throws, with the
/// position in the file, if `devices` gives neither that number nor 1, or if the file gives `ranks_per_host`.
void settle_one_rank_each(LaunchFile& file, const AllottedHosts& allotted);

/// Returns the number of ranks of each host as `topology.ranks_per_host` gives it. The list is empty if the file leaves
/// this to `devices`. Throws, with the position in the file, if the list does not have one number for each host, or if
/// the file also gives `devices`.
std::vector<std::uint32_t> read_ranks_per_host(const LaunchFile& file, std::uint32_t hosts);

/// Determines the host of every draft (a component while it is being planned). The ranks are in the order of the hosts:
/// with 2 ranks on each of 2 hosts, the ranks 2 and 3 are on host 1. A component that exists once is on the host that
/// its key `host` names; without the key, it is on host 0. Throws for a host that does not exist, and if, in a run on
/// several hosts, `host` is given to a component that exists for each rank.
void assign_hosts(std::vector<Draft>& drafts, const RunHosts& hosts);

/// Returns the number of the host that the key `host` of the component names, or 0 if the component has no such key.
/// Throws for a host that does not exist.
std::uint32_t host_of(const ComponentSpec& spec, const RunHosts& hosts);

}  // namespace trainyard::launch
