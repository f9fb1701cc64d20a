// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "environments/allocation.h"
#include "environments/process_facts.h"

namespace trainyard {

using EnvironmentContext = PluginContext;

/// Whether an engine has started this process.
struct Detection {
  bool found = false;
  /// The reason, as a part of a sentence that a user understands: "SLURM_JOB_ID is 12" or "SLURM_JOB_ID is not set".
  std::string reason;
};

/// The base class of all environments. An environment understands one engine: a program, such as Slurm or mpirun, that
/// starts `trainyard launch` on the hosts of a job. It translates what the engine tells its processes into an
/// Allocation. The engine places, queues and restarts jobs; an environment does none of this.
///
/// An environment has no state, does not change anything, and uses only the facts that it is given. The program on
/// every host creates it and calls it once, before the run begins.
class Environment : public Configurable {
 public:
  static constexpr const char* kKind = "environment";
  using Context = EnvironmentContext;

  explicit Environment(EnvironmentContext& context) : Configurable(context.where, context.parameters) {}

  /// Returns a number from 0 to 100. If several engines seem to have started this process, and its ancestors do not
  /// show which of them is nearest, the environment with the highest number is chosen. An engine that people start
  /// within another, as they start torchrun within Slurm, has a higher number than the other. `single_host` has 0.
  virtual int precedence() const = 0;

  /// Returns the names of the engine's processes that start other processes on a host, such as "orted". A name that
  /// ends with '*' stands for all names that begin in the same way.
  virtual std::vector<std::string> starters() const { return {}; }

  /// Returns whether the engine has started this process. Never throws, whatever the facts are.
  virtual Detection detect(const ProcessFacts& facts) const = 0;

  /// Returns what the engine has allotted. Throws kNotFound or kInvalidArgument if the engine has not provided enough
  /// information or if the information is contradictory; the error names the variable and says what the user can do.
  /// Called only if detect() has found the engine or the user has named the environment.
  virtual Allocation allocation(const ProcessFacts& facts) const = 0;

  /// Returns the names of the variables that identify a single process of the engine. The processes of a run do not
  /// inherit these variables, because each of them would take itself for that one process. A program in a run that uses
  /// MPI, for instance, would then wait for ever. A name that ends with '*' stands for all names that begin in the same
  /// way. Variables that describe the whole job, such as SLURM_JOB_ID, are inherited.
  virtual std::vector<std::string> process_variables() const { return {}; }
};

}  // namespace trainyard

/// Registers the class `Class` as the environment `name`. `description` is one sentence about the environment. The
/// macro must be the last line of the environment's .cpp, outside of any namespace.
#define TRAINYARD_ENVIRONMENT(Class, name, description)                                                        \
  TRAINYARD_PLUGIN("environment", ::trainyard::Environment, ::trainyard::EnvironmentContext, Class, name, "1", \
                   description)
