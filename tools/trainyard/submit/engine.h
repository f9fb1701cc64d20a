// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/trainyard/submit/job.h"

namespace trainyard::tools::submit {

/// A program that starts jobs on the hosts of a cluster. It receives the description of a job as a text: a batch
/// script, a manifest or a command.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Returns the text. It contains everything that the user may want to see or to change before the job is handed over.
  /// Throws kInvalidArgument if the engine cannot express the job.
  virtual std::string text(const Job& job) const = 0;

  /// Hands the job over to the engine, and prints the engine's answer. Returns the exit code of the command. Throws
  /// kNotFound if the engine's program is not on this machine, and kIo if the engine refuses the job.
  virtual int hand_over(const Job& job) const = 0;
};

/// Returns the names of the engines, in the order of the help text.
const std::vector<std::string>& engine_names();

/// Returns the engine with this name. Throws kInvalidArgument, which suggests the nearest name, if there is none.
std::unique_ptr<Engine> find_engine(const std::string& name);

}  // namespace trainyard::tools::submit
