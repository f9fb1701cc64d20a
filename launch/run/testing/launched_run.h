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

/// A launch in separate processes, as a shell would start it: guard, launcher and children. The children are fakes
/// (fake_process.cpp). The destructor kills all processes of the launch that are left.
class LaunchedRun {
 public:
  /// Starts the launch. The constructor calls fork(), so the test must not have other threads at this time.
  explicit LaunchedRun(const Plan& plan, LaunchOptions options = {});
  ~LaunchedRun();
  LaunchedRun(const LaunchedRun&) = delete;
  LaunchedRun& operator=(const LaunchedRun&) = delete;

  /// Returns the pid of the guard.
  pid_t guard() const { return guard_; }

  /// Waits for run.json and returns the launcher's pid, which it contains.
  pid_t launcher() const;

  /// Returns everything that has been printed until now, on stdout and stderr together.
  std::string output() const;

  /// Waits until `text` has been printed. Returns false if that does not happen.
  bool prints(const std::string& text) const;

  /// Sends a question to the registry and returns the answer as text (docs/wire_format.md). Returns an empty text if
  /// there is no answer.
  std::string ask(const std::string& question) const;

  /// Waits until the registry reports that a component or an external program has reached a state. Returns false if
  /// that does not happen. There can be a delay between the report of a child and the moment at which the launcher
  /// reads it.
  bool reaches(const std::string& node, const std::string& state) const;

  /// Returns the pid of the process in which a component or an external program runs, as reported by the registry; 0 if
  /// the registry reports none.
  pid_t pid_of(const std::string& node) const;

  /// Waits until the launch ends, and returns its exit code. Returns -1 if it does not end, or if a signal ends it.
  int exit_code();

  /// Waits until base() contains no run directory. Returns false if that does not happen.
  bool directory_is_gone() const;

  /// Returns the directory that contains the run directories.
  const std::string& base() const { return base_; }

  /// Returns the value of XDG_RUNTIME_DIR with which other programs find this run.
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

/// Returns a plan with the processes "p0", "p1", ... Process i has one component, "c<i>", and behaves as the JSON text
/// `fakes[i]` specifies (see fake_process.cpp). The components are activated in the order of their numbers.
Plan fake_plan(const std::vector<std::string>& fakes);

/// Returns `plan` with an external program added.
Plan with_program(Plan plan, const std::string& name, std::vector<std::string> command);

}  // namespace trainyard::launch::testing
