// SPDX-License-Identifier: Apache-2.0
// A training in a terminal: Ctrl-Z suspends all of it, `fg` continues it, and closing the terminal saves a checkpoint.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "launch/run/process_tree.h"
#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using testing::TrainingTest;

/// A terminal with an interactive shell.
class Terminal {
 public:
  explicit Terminal(const std::string& directory) {
    shell_ = ::forkpty(&file_, nullptr, nullptr, nullptr);
    if (shell_ == 0) {
      ::setenv("PS1", "$ ", 1);
      if (::chdir(directory.c_str()) == 0) ::execlp("bash", "bash", "--norc", "--noprofile", "-i", nullptr);
      ::_exit(127);
    }
    ::fcntl(file_, F_SETFL, O_NONBLOCK);
  }
  ~Terminal() {
    const std::vector<pid_t> below = launch::descendants(shell_);
    close();
    for (const pid_t pid : below) ::kill(pid, SIGKILL);
    ::kill(shell_, SIGKILL);
    ::waitpid(shell_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  pid_t shell() const { return shell_; }

  /// Types the text.
  void type(const std::string& text) const {
    ASSERT_EQ(::write(file_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  /// Returns true if `text` has been shown.
  bool shows(const std::string& text) {
    char part[4096];
    ssize_t got = 0;
    while ((got = ::read(file_, part, sizeof part)) > 0) shown_.append(part, static_cast<std::size_t>(got));
    return shown_.find(text) != std::string::npos;
  }
  const std::string& shown() const { return shown_; }

  /// Closes the window.
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

 private:
  int file_ = -1;
  pid_t shell_ = 0;
  std::string shown_;
};

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
  terminal.close();  // The kernel and the shell both send SIGHUP.
  EXPECT_TRUE(eventually([&] { return std::ranges::none_of(processes, alive); }));
  EXPECT_TRUE(has_checkpoint());
  EXPECT_TRUE(run_directories().empty());
}

}  // namespace
}  // namespace trainyard
