// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/trainyard/testing/fake_run.h"

namespace trainyard::tools::testing {

/// A test fixture that runs the real command `trainyard`, which finds a FakeRun instead of a real run. The FakeRun has
/// no topics until the test adds them.
class CommandOnFakeRun : public ::testing::Test {
 protected:
  /// Runs `trainyard` with these arguments until it ends, and keeps its output. Returns the exit code, or -1 if a
  /// signal ended it.
  int command(std::vector<std::string> arguments);

  /// Returns each line of the output as JSON. A line that is not JSON becomes null.
  std::vector<nlohmann::json> json_lines() const;

  FakeRun run_;
  std::string out_;
  std::string err_;
};

/// A `trainyard` command that runs in the background until the test ends it.
class StartedCommand {
 public:
  StartedCommand(const std::string& runtime_directory, std::vector<std::string> arguments);
  ~StartedCommand();  ///< Kills the command if it is still running.
  StartedCommand(const StartedCommand&) = delete;
  StartedCommand& operator=(const StartedCommand&) = delete;

  pid_t pid() const { return pid_; }

  /// Waits for the next line that the command prints, and returns the line. Returns an empty text at the end of the
  /// output.
  std::string line();

  /// Sends the signal, and waits until the command ends. Returns the exit code, or -1 if the signal ended it.
  int end_with(int signal);

 private:
  pid_t pid_ = 0;
  FILE* output_ = nullptr;
};

}  // namespace trainyard::tools::testing
