// SPDX-License-Identifier: Apache-2.0
// Tests a training run in a terminal: Ctrl-Z suspends all its processes, `fg` continues them, and closing the terminal
// saves a checkpoint.

#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

#include "launch/run/process_tree.h"
#include "tests/integration/training/terminal.h"
#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using testing::Terminal;
using testing::TrainingTest;

class TerminalTest : public TrainingTest {
 protected:
  /// Starts a training in the terminal and waits until it trains. Returns all of its processes, the guard first.
  std::vector<pid_t> start(Terminal& terminal) {
    const std::string path = training_file("run", "");
    terminal.type(TRAINYARD_PROGRAM " launch " + path + " placement=processes run.directory=run\n");
    EXPECT_TRUE(eventually([&] {
      terminal.shows("");
      return last_step() > 0;
    })) << terminal.shown();
    return descendants(terminal.shell());
  }

  std::uint64_t last_step() const {
    const auto all = steps("run");
    return all.empty() ? 0 : all.back().step;
  }

  static bool all_are(const std::vector<pid_t>& processes, bool stopped) {
    return std::ranges::all_of(processes, [=](pid_t pid) { return (launch::state_of(pid) == 'T') == stopped; });
  }

  bool has_checkpoint() const {
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / "run" / "checkpoints")) {
      if (std::filesystem::exists(entry.path() / "manifest.json")) return true;
    }
    return false;
  }
};

TEST_F(TerminalTest, CtrlZSuspendsEveryProcessAndFgContinuesThem) {
  Terminal terminal(directory_);
  const std::vector<pid_t> processes = start(terminal);
  ASSERT_GE(processes.size(), 8u) << "guard, launcher and six components";
  terminal.type("\x1a");
  EXPECT_TRUE(eventually([&] { return terminal.shows("Stopped"); })) << terminal.shown();
  EXPECT_TRUE(all_are(processes, true)) << "the guard stops last";

  const std::uint64_t before = last_step();
  terminal.type("fg\n");
  EXPECT_TRUE(eventually([&] { return all_are(processes, false); })) << terminal.shown();
  EXPECT_TRUE(eventually([&] { return last_step() > before + 100; })) << terminal.shown();
  terminal.type("\x03");
  EXPECT_TRUE(eventually([&] { return terminal.shows("run finished: "); })) << terminal.shown();
  EXPECT_TRUE(eventually([&] { return std::ranges::none_of(processes, alive); }));
  EXPECT_TRUE(has_checkpoint());
  EXPECT_FALSE(terminal.shows("was stopped by signal")) << "nobody takes the pause for an accident";
  EXPECT_TRUE(run_directories().empty());
}

TEST_F(TerminalTest, ClosingTheTerminalSavesACheckpoint) {
  Terminal terminal(directory_);
  const std::vector<pid_t> processes = start(terminal);
  terminal.close();  // Both the kernel and the shell send SIGHUP.
  EXPECT_TRUE(eventually([&] { return std::ranges::none_of(processes, alive); }));
  EXPECT_TRUE(has_checkpoint());
  EXPECT_TRUE(run_directories().empty());
}

}  // namespace
}  // namespace trainyard
