// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "launch/run/process_tree.h"
#include "launch/run/testing/launched_run.h"

namespace trainyard::launch::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the texts in a file of /proc, such as the arguments of a process, each of which ends with a zero byte.
std::vector<std::string> words_of(const std::string& file) {
  std::vector<std::string> words;
  std::ifstream stream(file);
  for (std::string word; std::getline(stream, word, '\0');) words.push_back(word);
  return words;
}

std::size_t position(const std::vector<std::string>& lines, const std::string& line) {
  return static_cast<std::size_t>(std::ranges::find(lines, line) - lines.begin());
}

/// Returns options according to which the plugin "fake" has a service "stop".
LaunchOptions with_stop_service() {
  LaunchOptions options;
  options.plugins["fake"].services.push_back({.name = "stop"});
  return options;
}

class SupervisorTest : public ::testing::Test {
 protected:
  std::string trace(const std::string& rest = "") const {
    return R"({"trace": ")" + trace_file() + "\"" + (rest.empty() ? "" : ", " + rest) + "}";
  }
  std::string trace_file() const { return folder_.path() + "/trace"; }

  TemporaryFolder folder_;
};

TEST_F(SupervisorTest, ConnectsNobodyBeforeAllAreConfiguredAndActivatesInThePlannedOrder) {
  LaunchedRun run(fake_plan({trace(), trace(), trace(R"("finish": "active")")}));
  EXPECT_EQ(run.exit_code(), 0);
  const std::vector<std::string> lines = lines_of(trace_file());
  for (const std::string process : {"p0", "p1", "p2"}) {
    for (const std::string other : {"p0", "p1", "p2"}) {
      EXPECT_LT(position(lines, process + ": plan"), position(lines, other + ": connect 6"));
      EXPECT_LT(position(lines, process + ": connect 6"), position(lines, "p0: active c0"));
    }
  }
  EXPECT_LT(position(lines, "p0: active c0"), position(lines, "p1: active c1"));
  EXPECT_LT(position(lines, "p1: active c1"), position(lines, "p2: active c2"));
}

TEST_F(SupervisorTest, AProcessThatSaysTwiceThatItIsConfiguredIsConnectedAndActivatedOnce) {
  LaunchedRun run(fake_plan({trace(R"("repeat": "configured")"), trace(R"("finish": "active")")}));
  EXPECT_EQ(run.exit_code(), 0) << run.output();
  const std::vector<std::string> lines = lines_of(trace_file());
  for (const char* line : {"p0: connect 4", "p1: connect 4", "p0: active c0", "p1: active c1"}) {
    EXPECT_EQ(std::ranges::count(lines, line), 1) << line;
  }
}

TEST_F(SupervisorTest, DeactivatesSourcesFirstAndFinalizesWhenAllAreInactive) {
  LaunchedRun run(fake_plan({trace(), trace(R"("finish": "active")")}));
  EXPECT_EQ(run.exit_code(), 0);
  const std::vector<std::string> lines = lines_of(trace_file());
  EXPECT_LT(position(lines, "p1: inactive c1"), position(lines, "p0: inactive c0"));
  EXPECT_LT(position(lines, "p0: inactive c0"), position(lines, "p0: finalized c0"));
  EXPECT_LT(position(lines, "p0: inactive c0"), position(lines, "p1: finalized c1"));
  EXPECT_THAT(run.output(), HasSubstr("run finished: enough is enough"));
  EXPECT_TRUE(run.directory_is_gone());
}

TEST_F(SupervisorTest, ReturnsOneWhenAComponentSaysThatTheRunFailed) {
  LaunchedRun run(fake_plan({R"({"finish": "active", "success": false})"}));
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("run failed: enough is enough"));
}

TEST_F(SupervisorTest, NamesWhoIsMissingAtTheDeadlineAndWhatWasAwaited) {
  Plan plan = fake_plan({"{}", R"({"hang": "connected"})"});
  plan.start_timeout = std::chrono::milliseconds(1500);
  LaunchedRun run(plan);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("did not start within 1.5 s: process 'p1' did not connect its inputs"));
  EXPECT_THAT(run.output(), Not(HasSubstr("'p0'")));
}

TEST_F(SupervisorTest, NamesTheComponentThatDoesNotBecomeActive) {
  Plan plan = fake_plan({R"({"hang": "active"})"});
  plan.start_timeout = std::chrono::milliseconds(1500);
  LaunchedRun run(plan);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("component 'c0' (process p0, plugin fake) did not become active"));
}

TEST_F(SupervisorTest, ReportsAFailedComponentWithItsMessageAndTheLastLinesOfItsProcess) {
  LaunchedRun run(fake_plan({"{}", R"({"print": ["warming up"], "fail": "active", "message": "no such dataset"})"}));
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("component 'c1' (process p1, plugin fake) failed: no such dataset\n"));
  EXPECT_THAT(run.output(), HasSubstr("the last lines of 'p1':\n    warming up\n"));
  EXPECT_TRUE(run.directory_is_gone());
}

TEST_F(SupervisorTest, ReportsAProcessThatEndsBeforeItIsConfiguredAtOnce) {
  LaunchedRun run(fake_plan({"{}", R"({"die": "configured", "code": 7})"}));
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("process 'p1' (c1) ended with exit code 7"));
}

TEST_F(SupervisorTest, ReportsAtOnceThatAnOptionalProcessEndsBeforeTheRunHasStarted) {
  Plan plan = fake_plan({"{}", R"({"die": "configured", "code": 7})"});
  plan.processes[1].required = false;
  LaunchedRun run(plan);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("process 'p1' (c1) ended with exit code 7"));
}

TEST_F(SupervisorTest, RefusesAProcessOfAnotherBuild) {
  LaunchedRun run(fake_plan({R"({"abi": "trainyard-0/other"})"}));
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("process 'p0' is of another build: its ABI tag is 'trainyard-0/other', the "
                                      "launcher's is '"));
}

TEST_F(SupervisorTest, NamesTheProgramThatCannotBeStarted) {
  LaunchOptions options;
  options.process_program = "/nowhere/trainyard-process";
  LaunchedRun run(fake_plan({"{}"}), options);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(),
              HasSubstr("process 'p0': cannot start '/nowhere/trainyard-process': No such file or directory"));
}

TEST_F(SupervisorTest, LeavesNothingWhenTheLauncherIsKilled) {
  LaunchedRun run(with_program(fake_plan({trace(), trace()}), "shell", {"sh", "-c", "sleep 1000 & sleep 1000"}));
  ASSERT_TRUE(eventually([&] { return descendants(run.guard()).size() >= 6; })) << run.output();
  const std::vector<pid_t> all = descendants(run.guard());
  ::kill(run.launcher(), SIGKILL);
  EXPECT_EQ(run.exit_code(), 1);
  for (const pid_t pid : all) EXPECT_TRUE(is_gone(pid)) << pid;
  EXPECT_TRUE(run.directory_is_gone());
  EXPECT_THAT(run.output(), HasSubstr("the launcher was killed by signal 9"));
}

TEST_F(SupervisorTest, LeavesNothingWhenTheGuardIsKilled) {
  LaunchedRun run(with_program(fake_plan({trace(), trace()}), "shell", {"sh", "-c", "sleep 1000 & sleep 1000"}));
  ASSERT_TRUE(eventually([&] { return descendants(run.guard()).size() >= 6; })) << run.output();
  const std::vector<pid_t> all = descendants(run.guard());
  ::kill(run.guard(), SIGKILL);
  run.exit_code();
  for (const pid_t pid : all) EXPECT_TRUE(is_gone(pid)) << pid;
  EXPECT_TRUE(run.directory_is_gone());
}

TEST_F(SupervisorTest, AsksComponentsToStopOnInterruptAndReturns130) {
  LaunchedRun run(fake_plan({trace()}), with_stop_service());
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 130);
  EXPECT_THAT(lines_of(trace_file()), ElementsAre("p0: hello", "p0: plan", "p0: connect 2", "p0: active c0",
                                                  "p0: stop c0", "p0: inactive c0", "p0: finalized c0"));
  EXPECT_THAT(run.output(), HasSubstr("run finished: enough is enough"));
}

TEST_F(SupervisorTest, StopsInOrderOnInterruptWhenNoComponentKnowsHowTo) {
  LaunchedRun run(fake_plan({trace()}));
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGTERM);
  EXPECT_EQ(run.exit_code(), 130);
  EXPECT_EQ(lines_of(trace_file()).back(), "p0: finalized c0");
}

TEST_F(SupervisorTest, StopsInOrderWhenAnEngineSignalsAllProcessesSeveralTimes) {
  LaunchOptions options = with_stop_service();
  options.engine_signals = {SIGTERM, SIGUSR1, SIGUSR2};
  options.same_request = std::chrono::milliseconds(0);
  LaunchedRun run(with_program(fake_plan({trace()}), "helper", {"sleep", "1000"}), options);
  ASSERT_TRUE(run.reaches("c0", "active"));
  std::vector<pid_t> all = descendants(run.guard());
  all.push_back(run.guard());
  for (int i = 0; i < 3; ++i) {
    for (const pid_t pid : all) ::kill(pid, SIGUSR1);
  }
  EXPECT_EQ(run.exit_code(), 130);
  EXPECT_EQ(lines_of(trace_file()).back(), "p0: finalized c0");
  EXPECT_THAT(run.output(), HasSubstr("stopping, because SIGUSR1 came"));
}

TEST_F(SupervisorTest, EndsAllProcessesAtOnceOnTheSecondInterrupt) {
  Plan plan = fake_plan({trace(R"("hang": "stop")")});
  plan.stop_timeout = std::chrono::minutes(10);
  LaunchOptions options = with_stop_service();
  options.same_request = std::chrono::milliseconds(0);
  LaunchedRun run(plan, options);
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGINT);
  ASSERT_TRUE(eventually([&] { return lines_of(trace_file()).back() == "p0: stop c0"; }));
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 130);
  EXPECT_TRUE(run.directory_is_gone());
}

TEST_F(SupervisorTest, ClimbsTheLadderWhenAProcessDoesNotStop) {
  Plan plan = fake_plan({trace(R"("hang": "inactive")")});
  plan.stop_timeout = std::chrono::milliseconds(300);
  LaunchOptions options;
  options.rung = std::chrono::milliseconds(200);
  LaunchedRun run(with_program(plan, "deaf", {"sh", "-c", "trap '' INT TERM; echo deaf; sleep 1000"}), options);
  ASSERT_TRUE(run.prints("[deaf] deaf"));
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("component 'c0' (process p0, plugin fake) did not become inactive within 0.3 s"));
  EXPECT_TRUE(run.directory_is_gone());
}

TEST_F(SupervisorTest, DoesNotRestartAProcessThatEndsBeforeTheRunHasStarted) {
  Plan plan = fake_plan({"{}", R"({"die": "active", "code": 5})"});
  plan.processes[1].respawn = {.when = RespawnPolicy::When::kAlways, .delay = std::chrono::milliseconds(1)};
  LaunchedRun run(plan);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("process 'p1' (c1) ended with exit code 5"));
}

TEST_F(SupervisorTest, BringsARestartedProcessBackIntoTheRun) {
  Plan plan = fake_plan({trace(), trace()});
  plan.processes[1].respawn = {.when = RespawnPolicy::When::kOnFailure, .delay = std::chrono::milliseconds(10)};
  LaunchedRun run(plan);
  const auto count = [&](const std::string& line) { return std::ranges::count(lines_of(trace_file()), line); };
  ASSERT_TRUE(run.reaches("c1", "active"));
  const pid_t pid = run.pid_of("c1");
  ASSERT_GT(pid, 1);
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(run.prints("process 'p1' (c1) was killed by signal 9 (Killed); it starts again in 0.01 s"));
  EXPECT_TRUE(eventually([&] { return count("p1: active c1") == 2; }));
  // The other process may not have read its messages yet.
  EXPECT_TRUE(
      eventually([&] { return count(fmt::format("p0: peer_gone p1 {}", pid)) == 1 && count("p0: connect 4") == 2; }));
  EXPECT_EQ(count("p0: active c0"), 1);
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 130);
}

TEST_F(SupervisorTest, GivesUpAfterTheAllowedNumberOfRestarts) {
  Plan plan = with_program(fake_plan({"{}"}), "flaky", {"sh", "-c", "echo try; exit 4"});
  plan.processes[1].respawn = {
      .when = RespawnPolicy::When::kOnFailure, .delay = std::chrono::milliseconds(1), .max = 2};
  LaunchedRun run(plan);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("[flaky] try\n"));
  EXPECT_THAT(run.output(), HasSubstr("trainyard: program 'flaky' ended with exit code 4\n"));
}

TEST_F(SupervisorTest, GoesOnWithoutAProgramThatIsNotRequired) {
  Plan plan = with_program(fake_plan({trace()}), "extra", {"sh", "-c", "exit 4"});
  plan.processes[1].required = false;
  LaunchedRun run(plan);
  EXPECT_TRUE(run.prints("program 'extra' ended with exit code 4"));
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 130);
}

TEST_F(SupervisorTest, TellsProgramsWhereTheRunIs) {
  Plan plan = with_program(Plan{.file = "f.toml", .run = "programs"}, "printer",
                           {"sh", "-c", "echo $TRAINYARD_RUN $TRAINYARD_RUN_DIRECTORY $TRAINYARD_PARAMETERS $EXTRA"});
  plan.processes[0].environment["EXTRA"] = "more";
  plan.processes[0].parameters = R"({"a":1})";
  LaunchedRun run(plan);
  EXPECT_EQ(run.exit_code(), 0);
  EXPECT_THAT(run.output(), HasSubstr("[printer] programs-"));
  EXPECT_THAT(run.output(), HasSubstr(run.base() + "/programs-"));
  EXPECT_THAT(run.output(), HasSubstr(R"({"a":1} more)"));
}

TEST_F(SupervisorTest, TellsProcessesHowTheirThreadsComputeAndWait) {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"}) ::unsetenv(name);
  for (const bool flush : {true, false}) {
    Plan plan = fake_plan({trace()});
    plan.flush_denormals = flush;
    LaunchedRun run(plan);
    ASSERT_TRUE(run.reaches("c0", "active"));
    const std::string process = "/proc/" + std::to_string(run.pid_of("c0"));
    EXPECT_THAT(words_of(process + "/cmdline"), Contains(flush ? "flush" : "keep"));
    EXPECT_THAT(words_of(process + "/environ"), Contains("GOMP_SPINCOUNT=1000"));
    ::kill(run.guard(), SIGINT);
    EXPECT_EQ(run.exit_code(), 130);
  }
}

TEST_F(SupervisorTest, TakesSignalsThatComeTogetherForOneRequestAndHangupsForNoImpatience) {
  Plan plan = fake_plan({trace(R"("hang": "stop")")});
  plan.stop_timeout = std::chrono::milliseconds(1500);
  LaunchedRun run(plan, with_stop_service());
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGTERM);
  ::kill(run.guard(), SIGINT);
  ASSERT_TRUE(run.prints("stopping, because SIG"));
  for (int i = 0; i < 20; ++i) ::kill(run.guard(), SIGHUP);
  run.exit_code();
  EXPECT_THAT(run.output(), Not(HasSubstr("ending all processes now")));
  EXPECT_EQ(lines_of(trace_file()).back(), "p0: finalized c0");
}

TEST_F(SupervisorTest, NeverSaysThatARunFinishedThatFails) {
  Plan plan = fake_plan({trace(R"("hang": "inactive")")});
  plan.stop_timeout = std::chrono::milliseconds(300);
  LaunchedRun run(plan, with_stop_service());
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), Not(HasSubstr("run finished")));
  EXPECT_THAT(run.output(), HasSubstr("run failed: component 'c0' (process p0, plugin fake) did not become inactive "
                                      "within 0.3 s (after SIGINT came); enough is enough"));
}

TEST_F(SupervisorTest, AsksTheOthersToStopWhenOneFailsSoThatTheySaveWhatIsSound) {
  LaunchedRun run(fake_plan({trace(), trace()}), with_stop_service());
  ASSERT_TRUE(run.reaches("c1", "active"));
  ::kill(run.pid_of("c1"), SIGKILL);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(lines_of(trace_file()), ::testing::Contains("p0: stop c0"));
  EXPECT_THAT(run.output(),
              HasSubstr("run failed: process 'p1' (c1) was killed by signal 9 (Killed); enough is enough"));
}

TEST_F(SupervisorTest, DoesNotWaitForAStopThatCannotCome) {
  Plan plan = fake_plan({trace(R"("hang": "stop")"), trace()});
  plan.stop_timeout = std::chrono::minutes(10);
  LaunchedRun run(plan, with_stop_service());
  ASSERT_TRUE(run.reaches("c1", "active"));
  ::kill(run.pid_of("c1"), SIGKILL);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(lines_of(trace_file()), ::testing::Contains("p0: finalized c0"));
}

TEST_F(SupervisorTest, EndsARunThatAStoppedProcessHoldsUpAndNamesIt) {
  LaunchOptions options;
  options.stopped = std::chrono::milliseconds(300);
  LaunchedRun run(fake_plan({trace(), trace()}), options);
  ASSERT_TRUE(run.reaches("c1", "active"));
  ::kill(run.pid_of("c1"), SIGSTOP);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("trainyard: process 'p1' (c1) was stopped by signal 19 (Stopped (signal)); `kill "
                                      "-CONT "));
  EXPECT_THAT(run.output(), ::testing::ContainsRegex("run failed: the run has made no progress for [0-9.]+ s: process "
                                                     "'p1' \\(c1\\) was stopped by signal 19"));
}

TEST_F(SupervisorTest, LetsAProcessGoOnThatContinuesInTime) {
  LaunchOptions options;
  options.stopped = std::chrono::minutes(10);
  LaunchedRun run(fake_plan({trace(), trace()}), options);
  ASSERT_TRUE(run.reaches("c1", "active"));
  const pid_t pid = run.pid_of("c1");
  ::kill(pid, SIGSTOP);
  ASSERT_TRUE(run.prints("process 'p1' (c1) was stopped by signal 19"));
  ::kill(pid, SIGCONT);
  EXPECT_TRUE(run.prints("process 'p1' (c1) continues"));
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 130);
}

TEST_F(SupervisorTest, EndsARunThatStandsStillAndNamesWhoIsBusy) {
  Plan plan = fake_plan({"{}", R"({"busy": [{"components": ["c1"], "seconds": 1000}]})"});
  plan.edges.push_back({.id = 0, .topic = "/t", .from = 0, .output = "out", .to = 1, .input = "in"});
  plan.progress_timeout = std::chrono::milliseconds(400);
  LaunchedRun run(plan);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(),
              HasSubstr("component 'c1' in process 'p1' (c1) has been busy for 1e+03 s; it ends after 0.4 "
                        "s (run.progress_timeout_s)"));
  EXPECT_THAT(run.output(), HasSubstr("run failed: the run has made no progress for "));
}

TEST_F(SupervisorTest, LetsARunStandStillThatIsAtRest) {
  Plan plan = fake_plan({"{}", "{}"});
  plan.edges.push_back({.id = 0, .topic = "/t", .from = 0, .output = "out", .to = 1, .input = "in"});
  plan.progress_timeout = std::chrono::seconds(2);
  LaunchedRun run(plan);
  ASSERT_TRUE(run.reaches("c1", "active"));
  EXPECT_THAT(run.ask(R"({"id": 1, "op": "call", "target": "c0", "method": "pause"})"), HasSubstr("you_said"));
  const auto until = std::chrono::steady_clock::now() + 2 * plan.progress_timeout;
  ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > until; }));
  EXPECT_THAT(run.output(), Not(HasSubstr("no progress")));
  EXPECT_THAT(run.ask(R"({"id": 2, "op": "call", "target": "c0", "method": "go_on"})"), HasSubstr("you_said"));
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("run failed: the run has made no progress for "));
}

TEST_F(SupervisorTest, LetsARunStandStillForEverIfTheLaunchFileSaysSo) {
  Plan plan = fake_plan({trace(), trace()});
  plan.edges.push_back({.id = 0, .topic = "/t", .from = 0, .output = "out", .to = 1, .input = "in"});
  plan.progress_timeout = std::chrono::milliseconds(0);
  LaunchOptions options;
  options.stopped = std::chrono::milliseconds(1);
  options.silence = std::chrono::milliseconds(100);
  LaunchedRun run(plan, options);
  ASSERT_TRUE(run.reaches("c1", "active"));
  ::kill(run.pid_of("c1"), SIGSTOP);
  ASSERT_TRUE(run.prints("process 'p1' has been silent"));
  ::kill(run.guard(), SIGINT);
  run.exit_code();
  EXPECT_THAT(run.output(), Not(HasSubstr("no progress")));
}

TEST_F(SupervisorTest, EndsTheRunWhenTheLauncherItselfStaysStopped) {
  LaunchOptions options;
  options.stopped = std::chrono::milliseconds(300);
  LaunchedRun run(fake_plan({trace(), trace()}), options);
  ASSERT_TRUE(run.reaches("c1", "active"));
  const std::vector<pid_t> all = descendants(run.guard());
  ::kill(run.launcher(), SIGSTOP);
  EXPECT_EQ(run.exit_code(), 1);
  for (const pid_t pid : all) EXPECT_TRUE(is_gone(pid)) << pid;
  EXPECT_TRUE(run.directory_is_gone());
  EXPECT_THAT(run.output(), HasSubstr(") was stopped by signal 19 (Stopped (signal)); nobody watches over the run"));
  EXPECT_THAT(run.output(), HasSubstr("and the run ends in 0.3 s"));
  EXPECT_THAT(run.output(), HasSubstr(") was stopped by a signal and did not continue; it and its 2 processes were"));
}

TEST_F(SupervisorTest, SaysThatTheGuardWasStoppedAndEndsTheCommandAllTheSame) {
  LaunchedRun run(fake_plan({trace(), trace()}));
  ASSERT_TRUE(run.reaches("c1", "active"));
  ::kill(run.guard(), SIGSTOP);
  ASSERT_TRUE(run.prints(") was stopped by a signal; the run goes on, but Ctrl-C reaches it only after `kill -CONT "));
  ::kill(run.pid_of("c1"), SIGKILL);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("run failed: process 'p1' (c1) was killed by signal 9 (Killed)"));
}

TEST_F(SupervisorTest, SaysWhyItEndsWhenTheGuardIsKilled) {
  LaunchedRun run(fake_plan({trace()}));
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGKILL);
  EXPECT_TRUE(run.prints("run failed: the guard was killed"));
}

TEST_F(SupervisorTest, ReportsAProgramThatFailsAfterTheRunHasEnded) {
  const std::string program = "trap 'echo closing; exit 3' INT; echo ready; while :; do sleep 0.01; done";
  LaunchedRun run(with_program(fake_plan({trace()}), "viewer", {"sh", "-c", program}), with_stop_service());
  ASSERT_TRUE(run.prints("[viewer] ready"));
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_THAT(run.output(), HasSubstr("run failed: program 'viewer' ended with exit code 3 after the end of the run"));
}

TEST_F(SupervisorTest, ReportsAProgramThatIsNotRequiredButDoesNotFailForIt) {
  const std::string program = "trap 'exit 3' INT; echo ready; while :; do sleep 0.01; done";
  Plan plan = with_program(fake_plan({trace()}), "viewer", {"sh", "-c", program});
  plan.processes.back().required = false;
  LaunchedRun run(plan, with_stop_service());
  ASSERT_TRUE(run.prints("[viewer] ready"));
  ASSERT_TRUE(run.reaches("c0", "active"));
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 130);
  EXPECT_THAT(run.output(), HasSubstr("program 'viewer' ended with exit code 3 after the end of the run"));
}

TEST_F(SupervisorTest, RefusesASecondRunInTheSameOutputDirectoryAndNamesTheFirst) {
  Plan plan = fake_plan({trace()});
  plan.output_directory = folder_.path() + "/out";
  LaunchedRun first(plan);
  ASSERT_TRUE(first.reaches("c0", "active"));
  LaunchedRun second(plan);
  EXPECT_EQ(second.exit_code(), 99) << "it throws";
  EXPECT_THAT(second.output(), HasSubstr("run.directory: '" + plan.output_directory + "' belongs to run 'fake-"));
  EXPECT_THAT(second.output(), HasSubstr(fmt::format("(process {} on host '", first.launcher())));
  ::kill(first.launcher(), SIGKILL);
  EXPECT_EQ(first.exit_code(), 1);
  EXPECT_FALSE(std::filesystem::exists(plan.output_directory + "/run.lock")) << "the guard has removed it";
  LaunchedRun third(plan);
  EXPECT_TRUE(third.reaches("c0", "active")) << third.output();
  ::kill(third.guard(), SIGINT);
  EXPECT_EQ(third.exit_code(), 130);
  for (const auto& entry : std::filesystem::directory_iterator(plan.output_directory)) {
    EXPECT_EQ(entry.path().filename(), "launches") << "nothing is left behind but the records of the launches";
  }
}

TEST_F(SupervisorTest, SaysThatAProcessIsSilentAndWhenItIsBackButDoesNotEndIt) {
  LaunchOptions options;
  options.silence = std::chrono::milliseconds(100);
  LaunchedRun run(fake_plan({trace()}), options);
  ASSERT_TRUE(run.reaches("c0", "active"));  // Before that, the run would be ended without asking the process.
  EXPECT_TRUE(run.prints("process 'p0' has been silent for"));  // Fake processes send no heartbeats.
  ::kill(run.guard(), SIGINT);
  EXPECT_TRUE(run.prints("process 'p0' is back after"));
  EXPECT_EQ(run.exit_code(), 130);
}

}  // namespace
}  // namespace trainyard::launch::testing
