// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace trainyard::testing {

/// A `trainyard` command that a test has started.
class Command {
 public:
  Command(const std::vector<std::string>& arguments, const std::filesystem::path& directory);
  ~Command();  ///< Kills the process group of the command unless it has ended.
  Command(const Command&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool running();

  /// Waits until the command ends; fails the test at the deadline. Returns the exit code, or 128 + the signal.
  int wait(std::chrono::seconds deadline = std::chrono::seconds(60));

  std::string out() const;  ///< Returns the standard output so far.
  std::string err() const;  ///< Returns the standard error so far.
  std::string all() const { return out() + err(); }

 private:
  std::filesystem::path out_, err_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool reaped_ = false;
};

/// Runs launches in a directory of the test's own, which holds the sockets and the results. All tests share one cache
/// of plugin descriptions.
class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest();
  ~LaunchTest() override;

  /// Writes a launch file and returns its path.
  std::string file(const std::string& text, const std::string& name = "test.toml");
  /// Runs `trainyard launch FILE ARGUMENTS...`.
  std::unique_ptr<Command> launch(const std::string& path, std::vector<std::string> arguments = {});
  std::unique_ptr<Command> run(std::vector<std::string> arguments);

  /// Waits until `done` returns true. Returns false if that does not happen before the deadline.
  static bool eventually(const std::function<bool()>& done, std::chrono::seconds deadline = std::chrono::seconds(30));

  /// Returns the pids of all descendants of `root`, without zombies.
  static std::vector<pid_t> descendants(pid_t root);
  static bool alive(pid_t pid);

  std::string read(const std::string& relative) const;
  /// Returns the run directories (sockets) that exist now.
  std::vector<std::filesystem::path> run_directories() const;

  std::filesystem::path directory_;
};

}  // namespace trainyard::testing
