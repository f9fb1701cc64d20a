// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace trainyard::launch {

/// What a short-lived helper program printed and how it ended.
struct ChildOutput {
  std::string text;    ///< What the program wrote to its standard output.
  std::string errors;  ///< What the program wrote to its standard error.
  int status = 0;      ///< As waitpid returns it.
  bool timed_out = false;

  bool succeeded() const { return !timed_out && status == 0; }
  /// Returns how the program failed: "it crashed (Segmentation fault)", or its text on standard error.
  std::string failure() const;
};

/// Runs a program to its end, and kills it at the deadline. Throws kIo if it cannot be started.
ChildOutput run_child(const std::vector<std::string>& command, std::chrono::milliseconds deadline);

}  // namespace trainyard::launch
