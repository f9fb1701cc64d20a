// SPDX-License-Identifier: Apache-2.0
#include "launch/run/guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "launch/run/testing/launched_run.h"

namespace trainyard::launch::testing {
namespace {

/// Runs a guard with this launcher in a child process. Returns the pid of the guard.
pid_t start_guard(const std::function<int(const GuardLink&)>& launcher) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::close(STDERR_FILENO);
  ::_exit(run_guarded(launcher));
}

int wait_for(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(GuardTest, ReturnsTheExitCodeOfTheLauncher) {
  EXPECT_EQ(wait_for(start_guard([](const GuardLink&) { return 42; })), 42);
}

TEST(GuardTest, GivesTheLauncherAProcessGroupOfItsOwn) {
  EXPECT_EQ(wait_for(start_guard([](const GuardLink&) { return ::getpgrp() == ::getpid() ? 0 : 1; })), 0);
}

TEST(GuardTest, RemovesWhatAKilledLauncherHasAnnounced) {
  const TemporaryFolder folder;
  const std::string directory = folder.path() + "/run";
  const pid_t guard = start_guard([&](const GuardLink& link) {
    link.will_make(directory);
    std::filesystem::create_directory(directory);
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(wait_for(guard), 1);
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(GuardTest, ReturnsWhatTheRunHasComeToIfTheLauncherIsKilledAfterItsEnd) {
  const pid_t guard = start_guard([&](const GuardLink& link) {
    link.will_exit(0);
    ::raise(SIGKILL);
    return 3;
  });
  EXPECT_EQ(wait_for(guard), 0);
}

TEST(GuardTest, EndsALauncherThatIsStoppedAfterTheEndOfTheRun) {
  const pid_t guard = start_guard([&](const GuardLink& link) {
    link.will_exit(0);
    ::raise(SIGSTOP);
    return 3;
  });
  EXPECT_EQ(wait_for(guard), 0);
}

TEST(GuardTest, KillsWhatAKilledLauncherHasStarted) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/pid";
  const pid_t guard = start_guard([&](const GuardLink&) {
    const pid_t orphan = ::fork();
    if (orphan == 0) {
      for (;;) ::pause();
    }
    folder.write("pid", std::to_string(orphan));
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(wait_for(guard), 1);
  pid_t orphan = 0;
  std::ifstream(file) >> orphan;
  ASSERT_GT(orphan, 0);
  EXPECT_TRUE(is_gone(orphan));
}

TEST(GuardTest, Returns130WhenALauncherThatStillPlansIsInterrupted) {
  const TemporaryFolder folder;
  const pid_t guard = start_guard([&](const GuardLink&) {
    folder.write("ready", "");
    for (;;) ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder.path() + "/ready"); }));
  ::kill(guard, SIGINT);
  EXPECT_EQ(wait_for(guard), 130);
}

TEST(GuardTest, ShowsTheLauncherThatItIsDead) {
  const TemporaryFolder folder;
  const pid_t guard = start_guard([&](const GuardLink& link) {
    folder.write("ready", "");
    char nothing;
    const bool end = ::read(link.alive(), &nothing, 1) == 0;
    folder.write(end ? "saw the end" : "saw something else", "");
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder.path() + "/ready"); }));
  ::kill(guard, SIGKILL);
  wait_for(guard);
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder.path() + "/saw the end"); }));
}

TEST(GuardTest, ALauncherThatWritesNotesForADeadGuardGoesOn) {
  const TemporaryFolder folder;
  const pid_t guard = start_guard([&](const GuardLink& link) {
    folder.write("ready", "");
    char nothing;
    [[maybe_unused]] const auto end = ::read(link.alive(), &nothing, 1);
    link.will_make(folder.path() + "/run");
    folder.write("goes on", "");
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder.path() + "/ready"); }));
  ::kill(guard, SIGKILL);
  wait_for(guard);
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder.path() + "/goes on"); }));
}

}  // namespace
}  // namespace trainyard::launch::testing
