// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace trainyard::launch {

/// The output of a short-lived helper program, and how it ended.
struct ChildOutput {
  std::string text;        ///< What the program wrote to its standard output.
  std::string errors;      ///< What the program wrote to its standard error.
  int status = 0;          ///< The wait status, as waitpid(2) returns it.
  bool timed_out = false;  ///< True if the program was killed at the deadline.
  bool too_long = false;   ///< True if the program was killed because it wrote more than the limit allows.

  bool succeeded() const { return !timed_out && !too_long && status == 0; }
  /// Returns a description of the failure: "it crashed (Segmentation fault)", for example, or what the program wrote to
  /// its standard error.
  std::string failure() const;
};

/// The maximum number of bytes that a program may write to each of its outputs.
constexpr std::size_t kMostChildOutput = std::size_t{64} << 20;

/// Runs a program, whose standard input is empty, and waits until it ends. If it has not ended after `deadline`, or has
/// written more than `most_bytes` to one of its outputs, it is killed. The program gets the environment of this process
/// and, in addition, the variables in `environment`. Throws kIo if the program cannot be started.
ChildOutput run_child(const std::vector<std::string>& command, std::chrono::milliseconds deadline,
                      const std::map<std::string, std::string>& environment = {},
                      std::size_t most_bytes = kMostChildOutput);

}  // namespace trainyard::launch
