// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/testing/temporary_folder.h"
#include "launch/plan/plan.h"
#include "launch/run/run_context.h"

namespace trainyard::testing {}

namespace trainyard::launch::testing {

using namespace trainyard::testing;

/// A launch in processes of its own, as a shell would start it: guard, launcher and children. The children are fakes
/// (fake_process.cpp). Whatever is left of it at the end of the test is killed.
class LaunchedRun {
 public:
  /// Forks, so it must be constructed while the test has one thread.
  explicit LaunchedRun(const Plan& plan, LaunchOptions options = {});
  ~LaunchedRun();
  LaunchedRun(const LaunchedRun&) = delete;
  LaunchedRun& operator=(const LaunchedRun&) = delete;

  pid_t guard() const { return guard_; }

  /// Waits for run.json and returns the launcher's pid, which it contains.
  pid_t launcher() const;

  /// Returns everything printed so far, stdout and stderr together.
  std::string output() const;

  /// Waits until `text` has been printed. Returns false if that does not happen.
  bool prints(const std::string& text) const;

  /// Returns what the registry answers to the question (docs/wire_format.md), as a client in any language would receive
  /// it. It is empty if there is no answer.
  std::string ask(const std::string& question) const;

  /// Waits until the launcher knows that a component, or an external program, has reached a state. Returns false if
  /// that does not happen. A child may have reported the state long before the launcher reads it.
  bool reaches(const std::string& node, const std::string& state) const;

  /// Returns the pid of the process in which a component or an external program runs, as the launcher knows it; 0 if
  /// the launcher does not know it.
  pid_t pid_of(const std::string& node) const;

  /// Waits until the launch ends and returns its exit code; -1 if it does not end or is ended by a signal.
  int exit_code();

  /// Waits until the directory of runs is empty. Returns false if that does not happen.
  bool directory_is_gone() const;

  /// Returns where run directories are made.
  const std::string& base() const { return base_; }

  /// Returns what XDG_RUNTIME_DIR must be for a program to find this run by itself.
  const std::string& runtime_directory() const { return folder_.path(); }

 private:
  nlohmann::json describe(const std::string& node) const;

  TemporaryFolder folder_;
  std::string base_;
  pid_t guard_ = 0;
};

/// Waits until `condition` returns true. Returns false if that does not happen within `deadline`.
bool eventually(const std::function<bool()>& condition, std::chrono::seconds deadline = std::chrono::seconds(20));

/// Waits until the process has ended. Returns false if that takes too long.
bool is_gone(pid_t pid);

/// Returns a plan whose processes "p0", "p1", ... run one component "c0", "c1", ... each, activated in this order.
/// Process i behaves as `fakes[i]` says (JSON, see fake_process.cpp).
Plan fake_plan(const std::vector<std::string>& fakes);

/// Returns the plan with an external program added.
Plan with_program(Plan plan, const std::string& name, std::vector<std::string> command);

}  // namespace trainyard::launch::testing
