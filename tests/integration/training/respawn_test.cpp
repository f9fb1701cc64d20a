// SPDX-License-Identifier: Apache-2.0
// Tests a process that dies in the middle of training: it is restarted, or the run continues without it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TrainedStep;
using testing::TrainingTest;

constexpr std::size_t kEnough = 300;  ///< The number of steps after which the training is known to continue.
constexpr std::size_t kMoving = 20;   ///< The number of steps that shows that training has begun.

class RespawnTest : public TrainingTest {
 protected:
  /// Kills the process of a component as the kernel would if it were out of memory. Returns its pid.
  pid_t kill_process_of(const std::string& component) {
    const pid_t pid = pid_of(component);
    EXPECT_GT(pid, 1);
    if (pid > 1) ::kill(pid, SIGKILL);
    return pid;
  }

  std::uint64_t dropped(const std::string& topic) const {
    std::uint64_t total = 0;
    const nlohmann::json processes = counters();
    for (const nlohmann::json& process : processes) {
      for (const nlohmann::json& edge : process.value("edges", nlohmann::json::array())) {
        if (edge.at("topic") == topic) total += edge.at("dropped").get<std::uint64_t>();
      }
    }
    return total;
  }

  std::uint64_t last_step(const std::string& directory) const {
    const auto all = steps(directory);
    return all.empty() ? 0 : all.back().step;
  }
};

TEST_F(RespawnTest, AKilledLoggerComesBackAndWritesOnWhileTrainingGoesOn) {
  run_to_end("alone", {"max_steps=3000"});
  const std::vector<std::string> expected = losses("alone", 3000);

  const auto training = train("killed", {"placement=processes"},
                              "[component.logger]\nrespawn = { policy = \"on_failure\", delay_ms = 300 }\n");
  ASSERT_TRUE(eventually([&] { return last_step("killed") >= kEnough; })) << training->all();
  const pid_t before = kill_process_of("logger");
  EXPECT_TRUE(eventually([&] { return dropped("/metrics") > 0; })) << "training does not wait for it" << counters();
  EXPECT_TRUE(eventually([&] {
    const nlohmann::json logger = node("logger");
    return !logger.is_null() && logger["state"] == "active" && logger["pid"] != before;
  })) << training->all();
  const std::uint64_t back = last_step("killed");
  EXPECT_TRUE(eventually([&] { return last_step("killed") >= back + kEnough; })) << "it hears and writes again";
  interrupt(*training);
  EXPECT_THAT(training->all(), HasSubstr("process 'logger' (logger) was killed by signal 9"));
  EXPECT_THAT(training->all(), HasSubstr("it starts again in 0.3 s"));

  std::uint64_t previous = 0;
  for (const TrainedStep& step : steps("killed")) {
    ASSERT_GT(step.step, previous) << "one table, in which only steps are missing";
    previous = step.step;
    if (step.step <= expected.size()) {
      ASSERT_EQ(step.loss, expected[step.step - 1]) << "step " << step.step;
    }
  }
}

TEST_F(RespawnTest, ARunGoesOnWithoutALoggerThatIsNotRequired) {
  const auto training = train("killed", {"placement=processes"}, "[component.logger]\nrequired = false\n");
  ASSERT_TRUE(eventually([&] { return sent("/metrics") >= kEnough; })) << training->all();
  kill_process_of("logger");
  EXPECT_TRUE(eventually([&] { return state_of("logger") == "gone"; })) << training->all();
  const std::uint64_t before = sent("/parameters");
  EXPECT_TRUE(eventually([&] { return sent("/parameters") >= before + kEnough; })) << counters();
  EXPECT_GT(dropped("/metrics"), 0u) << "what nobody takes is counted";
  interrupt(*training);
}

TEST_F(RespawnTest, ALoggerThatIsRequiredAndDiesEndsTheRun) {
  const auto training = train("killed", {"placement=processes"});
  ASSERT_TRUE(eventually([&] { return sent("/metrics") >= kEnough; })) << training->all();
  kill_process_of("logger");
  EXPECT_EQ(training->wait(), 1);
  EXPECT_THAT(training->all(), HasSubstr("process 'logger' (logger) was killed by signal 9"));
  EXPECT_TRUE(run_directories().empty());
  // No component waits for a logger, so the others stop in the normal way and save a checkpoint of the last step.
  const std::string words = "stopped by request: to keep its state after step ";
  const std::size_t at = training->all().find(words);
  ASSERT_NE(at, std::string::npos) << training->all();
  const auto step = std::stoull(training->all().substr(at + words.size()));
  EXPECT_TRUE(std::filesystem::exists(directory_ / fmt::format("killed/checkpoints/step-{:08}/manifest.json", step)));
}

// The accelerator host still holds batches of the dead data loader while it works on one of them.
TEST_F(RespawnTest, AKilledDataLoaderTakesNobodyWithIt) {
  for (int round = 0; round < 8; ++round) {
    const std::string directory = "killed" + std::to_string(round);
    const auto training = train(directory, {"placement=processes"});
    ASSERT_TRUE(eventually([&] { return sent("/parameters") >= kMoving; })) << training->all();
    kill_process_of("data_loader");
    EXPECT_EQ(training->wait(), 1);
    EXPECT_THAT(training->all(), HasSubstr("run failed: process 'data_loader' (data_loader) was killed by signal 9"));
    EXPECT_THAT(training->all(), Not(HasSubstr("signal 11")));
    EXPECT_TRUE(run_directories().empty());
  }
}

TEST_F(RespawnTest, AStoppedOptimizerEndsTheRunAndIsNamed) {
  const auto training = train("stopped", {"placement=processes", "devices=2", "progress_timeout_s=2"});
  ASSERT_TRUE(eventually([&] { return sent("/rank1/parameters") >= kMoving; })) << training->all();
  ::kill(node("rank1/optimizer").value("pid", 0), SIGSTOP);
  EXPECT_EQ(training->wait(), 1);
  EXPECT_THAT(training->all(), ::testing::ContainsRegex("run failed: the run has made no progress for [0-9.]+ s: "
                                                        "process 'rank1.optimizer' .* was stopped by signal 19"));
  EXPECT_TRUE(run_directories().empty());
}

}  // namespace
}  // namespace trainyard
