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

/// The result of Environment::detect(): whether the engine of the environment (such as Slurm) has started this process.
struct Detection {
  bool found = false;
  /// The reason for the decision, as a clause that users understand, such as "SLURM_JOB_ID is 12" or "SLURM_JOB_ID is
  /// not set".
  std::string reason;
};

/// The base class of all environments. An environment understands one engine: a program, such as Slurm or mpirun, that
/// starts `trainyard launch` on the hosts of a job. It translates what the engine tells its processes into an
/// Allocation. The engine places, queues and restarts jobs; an environment does none of this.
///
/// An environment has no state, changes nothing, and uses only the facts that it is given. On every host, `trainyard
/// launch` creates the environment and uses it once, before the run begins.
class Environment : public Configurable {
 public:
  static constexpr const char* kKind = "environment";
  using Context = EnvironmentContext;

  explicit Environment(EnvironmentContext& context) : Configurable(context.where, context.parameters) {}

  /// Returns the precedence of this environment, a number from 0 to 100. If several engines seem to have started this
  /// process, and its ancestors do not show which of them is nearest, the environment with the highest number is
  /// chosen. An engine that is usually started inside another one, such as torchrun inside Slurm, has a higher number
  /// than the outer engine. `single_host` has 0.
  virtual int precedence() const = 0;

  /// Returns the names of the programs with which the engine starts processes on a host, such as "orted". A name that
  /// ends with '*' stands for all names that begin with the text before the '*'.
  virtual std::vector<std::string> starters() const { return {}; }

  /// Returns whether the engine has started this process. Never throws, whatever the facts are.
  virtual Detection detect(const ProcessFacts& facts) const = 0;

  /// Returns what the engine has allotted. Throws kNotFound or kInvalidArgument if the engine's information is
  /// incomplete or contradictory; the error message names the missing or wrong variable and states what the user can
  /// do. This function is called only if detect() has found the engine or the user has named the environment.
  virtual Allocation allocation(const ProcessFacts& facts) const = 0;

  /// Returns the names of the environment variables with which the engine identifies a single process, such as the
  /// variable with the rank of a process. The processes of a run must not inherit these variables from `trainyard
  /// launch`, because all of them would then believe that they are the same process: a program of the run that uses
  /// MPI, for instance, would wait forever. A name that ends with '*' stands for all names that begin with the text
  /// before the '*'. Variables that describe the job as a whole, such as SLURM_JOB_ID, are kept.
  virtual std::vector<std::string> process_variables() const { return {}; }
};

}  // namespace trainyard

/// Registers the class `Class` as the environment `name`. `description` is one sentence about the environment. The
/// macro must be the last line of the environment's .cpp, outside of any namespace.
#define TRAINYARD_ENVIRONMENT(Class, name, description)                                                        \
  TRAINYARD_PLUGIN("environment", ::trainyard::Environment, ::trainyard::EnvironmentContext, Class, name, "1", \
                   description)
