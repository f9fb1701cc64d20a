// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/trainyard/submit/job.h"

namespace trainyard::tools::submit {

/// The base class of the engines that `trainyard submit` supports. An engine is a program that starts jobs on the hosts
/// of a cluster, such as Slurm. It receives the description of a job as a text: a batch script, a manifest or a
/// command.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Returns the description of the job for the engine. It contains everything that the user may want to see or change
  /// before submitting the job. Throws kInvalidArgument if the engine does not support such a job.
  virtual std::string text(const Job& job) const = 0;

  /// Submits the job, and prints the engine's answer. Returns the exit code of `trainyard submit`. Throws kNotFound if
  /// the engine's program does not exist on this machine, and kIo if the engine refuses the job.
  virtual int hand_over(const Job& job) const = 0;
};

/// Returns the names of the engines, in the order of the help text.
const std::vector<std::string>& engine_names();

/// Returns the engine with this name. Throws kInvalidArgument if there is none; the error message suggests the most
/// similar name.
std::unique_ptr<Engine> find_engine(const std::string& name);

}  // namespace trainyard::tools::submit
