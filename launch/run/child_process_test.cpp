// SPDX-License-Identifier: Apache-2.0
#include "launch/run/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <future>
#include <thread>

#include "launch/run/heartbeat_watch.h"
#include "launch/run/signal_file.h"

namespace trainyard::launch::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChildProcessTest : public ::testing::Test {
 protected:
  void start(const std::string& script) { child_.start({.command = {"sh", "-c", script}}); }

  /// Runs the loop until the child has been reaped. Returns its wait status.
  int wait() {
    int status = 0;
    while (::waitpid(child_.pid(), &status, WNOHANG) == 0) loop_.run_once(milliseconds(5));
    child_.reaped();
    return status;
  }

  void wait_for_line() {
    while (lines_.empty()) loop_.run_once(milliseconds(5));
  }

  PollLoop loop_;
  PlannedProcess planned_;
  std::vector<std::string> lines_;
  ChildProcess child_{loop_, planned_, 3, [this](std::string_view line, bool from_stderr) {
                        lines_.push_back((from_stderr ? "! " : "") + std::string(line));
                      }};
};

TEST_F(ChildProcessTest, HandsOverEveryLineOfBothStreamsEvenTheUnfinishedOne) {
  start("echo out; echo error >&2; printf end");
  EXPECT_FALSE(is_failure(wait()));
  EXPECT_THAT(lines_, ::testing::UnorderedElementsAre("out", "! error", "end"));
  EXPECT_FALSE(child_.running());
}

TEST_F(ChildProcessTest, KeepsTheLastTwentyLines) {
  start("seq 100");
  wait();
  EXPECT_EQ(lines_.size(), 100u);
  EXPECT_EQ(child_.last_lines().size(), 20u);
  EXPECT_EQ(child_.last_lines().front(), "81");
}

TEST_F(ChildProcessTest, EndsWithTheGentlestSignalThatWorks) {
  start("trap 'exit 5' TERM; trap '' INT; echo ready; while :; do sleep 0.01; done");
  wait_for_line();
  child_.end(milliseconds(50));
  EXPECT_TRUE(child_.being_ended());
  const int status = wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST_F(ChildProcessTest, KillsWhatHearsNothingWithItsWholeGroup) {
  start("trap '' INT TERM; (trap '' INT TERM; sleep 1000) & echo ready; while :; do sleep 0.01; done");
  wait_for_line();
  child_.end(milliseconds(20));
  const int status = wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(ChildProcessTest, RestartsAsOftenAsThePolicyAllowsWithinItsWindow) {
  EXPECT_FALSE(child_.may_restart(true));
  planned_.respawn = {.when = RespawnPolicy::When::kOnFailure, .max = 2, .window = std::chrono::hours(1)};
  EXPECT_FALSE(child_.may_restart(false));
  EXPECT_TRUE(child_.may_restart(true));
  EXPECT_TRUE(child_.may_restart(true));
  EXPECT_FALSE(child_.may_restart(true));
}

TEST_F(ChildProcessTest, ForgetsRestartsThatAreOlderThanTheWindow) {
  planned_.respawn = {.when = RespawnPolicy::When::kAlways, .max = 1, .window = milliseconds(-1)};
  EXPECT_TRUE(child_.may_restart(false));
  EXPECT_TRUE(child_.may_restart(false));
}

TEST(HeartbeatWatchTest, ReportsSilenceOnceAndTheReturn) {
  PollLoop loop;
  std::vector<std::string> said;
  HeartbeatWatch watch(loop, milliseconds(20), [&](const std::string& sentence) { said.push_back(sentence); });
  watch.heard("p");
  watch.heard("forgotten");
  watch.forget("forgotten");
  while (said.empty()) loop.run_once(milliseconds(100));
  for (int i = 0; i < 5; ++i) loop.run_once(milliseconds(100));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("process 'p' has been silent for 0.0 s"));
  watch.heard("p");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[1], HasSubstr("process 'p' is back after"));
}

TEST(SignalFileTest, TurnsSignalsIntoEvents) {
  PollLoop loop;
  std::vector<int> signals;
  const BlockedSignals blocked({SIGUSR1, SIGUSR2});
  SignalFile file(loop, blocked, [&](int signal) { signals.push_back(signal); });
  ::kill(::getpid(), SIGUSR2);
  ::kill(::getpid(), SIGUSR1);
  loop.run_once(milliseconds(20'000));
  EXPECT_THAT(signals, ElementsAre(SIGUSR1, SIGUSR2));  // The kernel delivers the lower number first.
}

TEST(SignalFileTest, ThreadsThatStartBeforeTheFileTakeNoSignalFromIt) {
  const BlockedSignals blocked({SIGCHLD});
  std::promise<void> over;
  std::thread other([until = over.get_future()] { until.wait(); });
  PollLoop loop;
  bool arrived = false;
  SignalFile file(loop, blocked, [&](int) { arrived = true; });
  ::kill(::getpid(), SIGCHLD);
  loop.run_once(milliseconds(20'000));
  EXPECT_TRUE(arrived);
  over.set_value();
  other.join();
}

}  // namespace
}  // namespace trainyard::launch::testing
