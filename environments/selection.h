// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/config/plugin_spec.h"
#include "environments/environment.h"

namespace trainyard::core {
class PluginLoader;
}  // namespace trainyard::core

namespace trainyard::environments {

/// An environment, and whether it has found that its engine (such as Slurm) has started this process.
struct Candidate {
  std::string name;
  std::unique_ptr<Environment> environment;
  Detection detection;
};

/// Creates every environment that the loader finds and asks it whether its engine has started this process. The result
/// is sorted by precedence, the highest first, then by name.
std::vector<Candidate> examine_environments(core::PluginLoader& loader, const ProcessFacts& facts);

/// Returns the candidate whose engine has started this process. If several candidates have found their engines, returns
/// the one whose starter (Environment::starters()) is the closest ancestor of this process, because the variables of
/// the other engines were merely inherited. If no ancestor is a starter, returns the first candidate in the list that
/// has found its engine. Throws kNotFound if no candidate has found its engine, which cannot happen if the plugin
/// `single_host` is installed.
const Candidate& nearest_environment(std::span<const Candidate> candidates, const ProcessFacts& facts);

/// Creates the environment that the user has named. Throws kNotFound if there is no such environment; the error message
/// suggests the most similar name.
Candidate named_environment(core::PluginLoader& loader, const PluginSpec& spec, const ProcessFacts& facts);

/// Returns the allocation of the candidate, checked and completed:
///
/// * The variable TRAINYARD_MEET_AT, "HOST" or "HOST:PORT", replaces the meeting place.
/// * The variable TRAINYARD_HOST_NAMES, a list in the syntax of expand_host_list(), replaces the names of the hosts.
/// * If there are several hosts with names, but no meeting place, the hosts meet at the first host.
/// * If there is one host with several processes, and no meeting place, the processes meet at 127.0.0.1.
/// * If the meeting place has no ports, it gets the ports that ports_of_job() derives from the job's name.
///
/// Throws what Environment::allocation() throws, and kInvalidArgument if the result is contradictory.
Allocation allocation_of(const Candidate& candidate, const ProcessFacts& facts);

/// Returns those names in `variables` that match process_variables() of any candidate. These variables are removed from
/// the environment of every process that a run starts.
std::vector<std::string> variables_to_remove(std::span<const Candidate> candidates,
                                             const ProcessFacts::Variables& variables);

}  // namespace trainyard::environments
