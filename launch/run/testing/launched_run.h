#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launch/plan/plan.h"
#include "launch/run/run_context.h"
#include "launch/testing/temporary_folder.h"

namespace trainyard {

/// A launch in processes of its own, as the user's shell would start it: guard, launcher, children. Its children are
/// fakes (fake_process.cpp). Whatever is left of it when the test ends is killed.
class LaunchedRun {
 public:
  explicit LaunchedRun(Plan plan, LaunchOptions options = {});
  ~LaunchedRun();

  pid_t guard() const { return guard_; }

  /// The pid that run.json names; waits for it.
  pid_t launcher();

  /// Everything printed so far, stdout and stderr together.
  std::string output() const;

  /// Waits until `text` has been printed; false if that does not happen.
  bool prints(const std::string& text) const;

  /// Exit code; waits for it. Empty if it does not end or was killed.
  std::optional<int> exit_code();

  /// True if no process, no socket and no directory of the run is left; waits for it.
  bool left_nothing() const;

  /// The directory of runs, and a file that fakes may write to.
  const std::string& base() const { return base_; }

 private:
  std::string base_;
  std::string output_file_;
  pid_t guard_ = 0;
};

/// Waits on a condition, at most ten seconds. True if it came.
bool eventually(const std::function<bool()>& condition, std::chrono::seconds deadline = std::chrono::seconds(10));

/// A plan whose processes "p0", "p1", ... run one fake component "c0", "c1", ... each, activated in this order; process
/// i behaves as `fakes[i]` (JSON) says.
Plan fake_plan(const std::vector<std::string>& fakes);

}  // namespace trainyard
