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
  ~Command();  ///< Kills the process group of the command, unless the command has ended.
  Command(const Command&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool running();

  /// Waits until the command ends. Fails the test if it does not end before the deadline. Returns the exit code, or 128
  /// plus the number of the signal that ended the command.
  int wait(std::chrono::seconds deadline = std::chrono::seconds(60));

  std::string out() const;  ///< Returns what the command has written to standard output.
  std::string err() const;  ///< Returns what the command has written to standard error.
  std::string all() const { return out() + err(); }

 private:
  std::filesystem::path out_, err_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool reaped_ = false;
};

/// A fixture that runs launches in a separate directory for each test, which contains the sockets and the results. All
/// tests share one cache of plugin descriptions.
class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest();
  ~LaunchTest() override;

  /// Writes a launch file and returns its path.
  std::string file(const std::string& text, const std::string& name = "test.toml");
  /// Runs `trainyard launch FILE ARGUMENTS...`.
  std::unique_ptr<Command> launch(const std::string& path, std::vector<std::string> arguments = {});
  /// Runs `trainyard ARGUMENTS...`.
  std::unique_ptr<Command> run(std::vector<std::string> arguments);

  /// Waits until `done` returns true. Returns false if that does not happen before the deadline.
  static bool eventually(const std::function<bool()>& done, std::chrono::seconds deadline = std::chrono::seconds(30));

  /// Returns the pids of all descendants of `root`, without zombies.
  static std::vector<pid_t> descendants(pid_t root);
  static bool alive(pid_t pid);

  std::string read(const std::string& relative) const;
  /// Returns the run directories, which contain the sockets, that exist now.
  std::vector<std::filesystem::path> run_directories() const;

  std::filesystem::path directory_;
};

}  // namespace trainyard::testing
