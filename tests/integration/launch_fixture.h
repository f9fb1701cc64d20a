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
  ~Command();  ///< Kills what is left.
  Command(const Command&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool running();

  /// Waits for the end, and fails the test at the deadline. Returns the exit code, or 128 + the signal.
  int wait(std::chrono::seconds deadline = std::chrono::seconds(60));

  std::string out() const;  ///< The standard output so far.
  std::string err() const;  ///< The standard error so far.
  std::string all() const { return out() + err(); }

 private:
  std::filesystem::path out_, err_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool reaped_ = false;
};

/// Runs launches in a directory of the test's own: sockets, cache and results lie below it.
class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest();
  ~LaunchTest() override;

  /// Writes a launch file and returns its path.
  std::string file(const std::string& text, const std::string& name = "test.toml");
  /// Runs `trainyard launch FILE ARGUMENTS...`.
  std::unique_ptr<Command> launch(const std::string& path, std::vector<std::string> arguments = {});
  std::unique_ptr<Command> run(std::vector<std::string> arguments);

  /// Returns true if `done` came true before the deadline.
  static bool eventually(const std::function<bool()>& done, std::chrono::seconds deadline = std::chrono::seconds(30));

  /// Returns the processes below `root` in the tree, by pid, without zombies.
  static std::vector<pid_t> descendants(pid_t root);
  static bool alive(pid_t pid);

  std::string read(const std::string& relative) const;
  /// Returns the run directories (sockets) that exist now.
  std::vector<std::filesystem::path> run_directories() const;

  std::filesystem::path directory_;
};

}  // namespace trainyard::testing
