// SPDX-License-Identifier: Apache-2.0
#include "launch/run/spawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "core/process/start_ticks.h"
#include "core/testing/temporary_folder.h"
#include "launch/run/child_process.h"
#include "launch/run/process_tree.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch::testing {
namespace {

using ::testing::HasSubstr;

struct Ended {
  int status = 0;
  std::string out;
};

/// Runs a shell script, and waits until it ends.
Ended run_shell(const std::string& script, SpawnOptions options = {}) {
  options.command = {"sh", "-c", script};
  const Spawned spawned = spawn(options);
  Ended ended;
  ::waitpid(spawned.pid, &ended.status, 0);
  char part[4096];
  const ssize_t got = ::read(spawned.out.get(), part, sizeof part);
  if (got > 0) ended.out.assign(part, static_cast<std::size_t>(got));
  return ended;
}

TEST(SpawnTest, FindsTheProgramInThePathAndAddsToTheEnvironment) {
  SpawnOptions options;
  options.environment["GREETING"] = "hello";
  EXPECT_EQ(run_shell("echo $GREETING ${PATH:+path}", options).out, "hello path\n");
}

TEST(SpawnTest, StartsInTheGivenFolderWithoutInput) {
  const TemporaryFolder folder;
  SpawnOptions options;
  options.directory = folder.path();
  EXPECT_EQ(run_shell("pwd; cat", options).out, folder.path() + "\n");
}

TEST(SpawnTest, HandsOverWhatNobodyElseShallReadThroughTheStandardInput) {
  SpawnOptions options;
  options.input = "a secret";
  // Because of the brackets, the pattern does not match its own text.
  EXPECT_EQ(run_shell("cat; echo .; cat /proc/$$/cmdline /proc/$$/environ | grep -ac 'a s[e]cret'", options).out,
            "a secret.\n0\n");
}

TEST(SpawnTest, RefusesInputThatAPipeMayNotHold) {
  SpawnOptions options;
  options.input = std::string(5000, 'x');
  EXPECT_EQ(error_of([&] { run_shell("true", options); }), "cannot hand 5000 bytes to a process");
}

TEST(SpawnTest, GivesAProcessItsOwnGroupAndStandardSignals) {
  ::signal(SIGPIPE, SIG_IGN);
  const Ended ended = run_shell("ps -o pgid= -p $$ | tr -d ' '; echo $$; trap");
  ::signal(SIGPIPE, SIG_DFL);
  const std::size_t end = ended.out.find('\n');
  EXPECT_EQ(ended.out.substr(0, end), ended.out.substr(end + 1, end)) << ended.out;
}

TEST(SpawnTest, TheGivenSignalsEndNeitherTheProcessNorWhatItStarts) {
  SpawnOptions options;
  options.ignored_signals = {SIGTERM, SIGUSR1};
  const std::string attempt = "kill -TERM $$; kill -USR1 $$; sh -c 'kill -TERM $$; echo alive'; kill -USR2 $$; echo no";
  const Ended ended = run_shell(attempt, options);
  EXPECT_EQ(ended.out, "alive\n");
  EXPECT_TRUE(ended_by(ended.status, {SIGUSR2})) << ended.status;
}

TEST(SpawnTest, PinsToTheGivenCpus) {
  SpawnOptions options;
  options.cpus = {0};
  EXPECT_EQ(run_shell("nproc", options).out, "1\n");
}

TEST(SpawnTest, SaysWhichProgramCannotBeStartedAndWhy) {
  EXPECT_EQ(error_of([] { spawn({.command = {"no-such-program"}}); }),
            "cannot start 'no-such-program': no such program in PATH");
  EXPECT_EQ(error_of([] { spawn({.command = {"/etc/passwd"}}); }), "cannot start '/etc/passwd': Permission denied");
  EXPECT_EQ(error_of([] { spawn({.command = {"sh"}, .directory = "/nowhere"}); }),
            "cannot start 'sh' in '/nowhere': No such file or directory");
  EXPECT_EQ(error_of([] { spawn({}); }), "cannot start a process: the command is empty");
}

TEST(SpawnTest, DescribesHowAProcessEnded) {
  EXPECT_EQ(describe_wait_status(run_shell("exit 3").status), "ended with exit code 3");
  EXPECT_EQ(describe_wait_status(run_shell("kill -9 $$").status), "was killed by signal 9 (Killed)");
  EXPECT_TRUE(is_failure(run_shell("kill -9 $$").status));
  EXPECT_FALSE(is_failure(run_shell("true").status));
}

TEST(ProcessTreeTest, FindsGrandchildrenAndKnowsWhenAProcessStarted) {
  const Spawned spawned = spawn({.command = {"sh", "-c", "sleep 1000 & echo ready; wait"}});
  char ready[8];
  while (::read(spawned.out.get(), ready, sizeof ready) <= 0) {
  }
  EXPECT_GE(core::start_ticks(spawned.pid), core::start_ticks(::getpid()));
  EXPECT_EQ(descendants(spawned.pid).size(), 1u);
  EXPECT_GE(descendants(::getpid()).size(), 2u);
  const std::vector<pid_t> all = descendants(spawned.pid);
  kill_descendants();
  EXPECT_EQ(core::start_ticks(spawned.pid), 0u);
  EXPECT_EQ(descendants(::getpid()).size(), 0u);
  EXPECT_EQ(core::start_ticks(-1), 0u);
}

}  // namespace
}  // namespace trainyard::launch::testing
