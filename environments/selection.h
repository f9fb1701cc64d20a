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

/// An environment and whether it has found its engine.
struct Candidate {
  std::string name;
  std::unique_ptr<Environment> environment;
  Detection detection;
};

/// Creates every environment that the loader finds and asks it whether its engine has started this process. The result
/// is sorted by precedence, the highest first, then by name.
std::vector<Candidate> examine_environments(core::PluginLoader& loader, const ProcessFacts& facts);

/// Returns the candidate whose engine has started this process. If several have found their engine, this is the one
/// whose starter is the nearest ancestor of this process, because the variables of the others were only inherited. If
/// no starter is among the ancestors, it is the first candidate that has found its engine. Throws kNotFound if there is
/// none, which cannot happen if the plugin `single_host` is installed.
const Candidate& nearest_environment(std::span<const Candidate> candidates, const ProcessFacts& facts);

/// Creates the environment that the user has named. Throws kNotFound for an unknown name, with the nearest known one.
Candidate named_environment(core::PluginLoader& loader, const PluginSpec& spec, const ProcessFacts& facts);

/// Returns the allocation of the candidate, checked and completed:
///
/// * The variable TRAINYARD_MEET_AT, "HOST" or "HOST:PORT", replaces the meeting place.
/// * The variable TRAINYARD_HOST_NAMES, a list in the syntax of expand_host_list(), replaces the names of the hosts.
/// * If there are several hosts and no meeting place, but names, the hosts meet at the first.
/// * If there is one host with several processes, and no meeting place, the processes meet at 127.0.0.1.
/// * If the meeting place has no ports, it gets those of the job.
///
/// Throws what Environment::allocation() throws, and kInvalidArgument for contradictions.
Allocation allocation_of(const Candidate& candidate, const ProcessFacts& facts);

/// Returns the names of those of the variables that one of the environments names in process_variables(). They are
/// removed from the environment of every process that a run starts.
std::vector<std::string> variables_to_remove(std::span<const Candidate> candidates,
                                             const ProcessFacts::Variables& variables);

}  // namespace trainyard::environments
