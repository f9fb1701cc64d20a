// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace trainyard::launch {

/// The output of a short-lived helper program, and how it ended.
struct ChildOutput {
  std::string text;        ///< What the program wrote to its standard output.
  std::string errors;      ///< What the program wrote to its standard error.
  int status = 0;          ///< The wait status, as waitpid(2) returns it.
  bool timed_out = false;  ///< True if the program was killed at the deadline.

  bool succeeded() const { return !timed_out && status == 0; }
  /// Returns a description of the failure: "it crashed (Segmentation fault)", for example, or what the program wrote to
  /// its standard error.
  std::string failure() const;
};

/// Runs a program and waits until it ends. If it has not ended after `deadline`, it is killed. Throws kIo if it cannot
/// be started.
ChildOutput run_child(const std::vector<std::string>& command, std::chrono::milliseconds deadline);

}  // namespace trainyard::launch
