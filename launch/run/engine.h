// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/config/plugin_spec.h"
#include "environments/allocation.h"
#include "environments/process_facts.h"

namespace trainyard::core {
class PluginLoader;
}  // namespace trainyard::core

namespace trainyard::launch {

/// The engine that has started this launcher. An engine is a program that starts `trainyard launch` on the hosts of a
/// job, such as Slurm or mpirun. A user who starts the launcher directly counts as an engine, too.
struct Engine {
  std::string environment;  ///< The name of the environment that understands the engine.
  /// Why this environment was chosen, such as "SLURM_JOB_ID is 7"; empty if the launch file names it.
  std::string reason;
  Allocation allocation;             ///< What the engine has allotted to the run.
  std::vector<std::string> removed;  ///< The environment variables that the processes of the run must not inherit.
};

/// Determines which engine has started this launcher. `named` is the environment that the launch file names; if
/// `named.plugin` is empty, the environment is detected. Loads the plugins of all environments into this process.
/// Throws what environments::allocation_of() throws.
Engine find_engine(core::PluginLoader& loader, const PluginSpec& named, const ProcessFacts& facts);

/// Returns the number of this process among all processes of `trainyard launch` that the engine has started for the
/// run, counted from 0. If there are several of them on each host, each counts as a host of the run, so this number can
/// differ from Allocation::host.
std::uint32_t number_of_launch(const Engine& engine);

/// If the engine has started several launches on each host, returns a sentence that tells the user so; otherwise
/// returns an empty string. The sentence helps if the variables of the engine were inherited by mistake: this launch
/// then waits for other launches that do not exist.
std::string describe_launches(const Engine& engine);

/// Removes the variables in Engine::removed from this process's own environment, so that the processes that it starts
/// do not inherit them. Must be called while the process has only one thread.
void forget_variables(const Engine& engine);

}  // namespace trainyard::launch
