// SPDX-License-Identifier: Apache-2.0
// Tests `trainyard replay`: computes steps of past runs again, and compares the losses bit by bit.

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TrainingTest;

class ReplayTest : public TrainingTest {
 protected:
  /// Trains a run with dropout, two ranks and gradient accumulation, which saves several checkpoints.
  void train_past_run() {
    run_to_end("past",
               {"max_steps=60", "run.checkpoint_every_steps=20", "run.accumulate_grad_batches=2",
                "component.checkpoint_writer.params.keep_last=0", "devices=2", "strategy=ddp", "placement=composed",
                "component.accelerator_host.params.model={plugin=\"convnet\",channels=[4],hidden=16,dropout=0.5}",
                "component.data_loader.params.dataset={plugin=\"synthetic\",shape=[1,8,8],classes=10,noise=4.0}"});
  }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
};

TEST_F(ReplayTest, TenStepsOfARunWithDropoutRanksAndAccumulationGetTheSameBits) {
  train_past_run();
  std::mt19937 random(20261122);
  for (int i = 0; i < 10; ++i) {
    const std::string step = std::to_string(1 + random() % 60);
    const auto replay = run({"replay", path("past"), "--step", step});
    EXPECT_EQ(replay->wait(), 0) << replay->all();
    EXPECT_THAT(replay->out(), HasSubstr("step " + step + ": loss "));
    EXPECT_THAT(replay->out(), HasSubstr("the same bits as recorded"));
    EXPECT_FALSE(std::filesystem::exists(path("past/replay-" + step)));
  }
}

TEST_F(ReplayTest, AStepThatGetsOtherBitsIsReported) {
  train_past_run();
  std::string table = read("past/metrics_train.csv");
  const auto recorded = steps("past").at(24);
  ASSERT_EQ(recorded.step, 25u);
  const auto at = table.find(recorded.loss);
  ASSERT_NE(at, std::string::npos);
  table.replace(at, recorded.loss.size(), "7.5");
  std::ofstream(path("past/metrics_train.csv")) << table;
  const auto replay = run({"replay", path("past"), "--step", "25"});
  EXPECT_EQ(replay->wait(), 1) << replay->all();
  EXPECT_THAT(replay->out(), HasSubstr("but 7.5 was recorded"));
}

TEST_F(ReplayTest, RunsTheStepUnderAnotherProgramAndKeepsTheResultsIfAsked) {
  train_past_run();
  const auto replay = run({"replay", path("past"), "--step", "30", "--with", "env TRAINYARD_TEST=1", "--keep"});
  EXPECT_EQ(replay->wait(), 0) << replay->all();
  EXPECT_THAT(replay->out(), HasSubstr("the results are in " + path("past/replay-30")));
  EXPECT_EQ(steps("past/replay-30").front().step, 21u) << "it began at the checkpoint of step 20";
  EXPECT_EQ(steps("past/replay-30").back().step, 30u);
  const auto again = run({"replay", path("past"), "--step", "30"});
  EXPECT_EQ(again->wait(), 2);
  EXPECT_THAT(again->err(), HasSubstr("replay-30: exists already"));
}

TEST_F(ReplayTest, SaysWhyARunCannotBeReplayed) {
  train_past_run();
  const auto refused = [&](std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), "replay");
    const auto replay = run(std::move(arguments));
    EXPECT_EQ(replay->wait(), code) << replay->all();
    return replay->err();
  };
  EXPECT_THAT(refused({path("past"), "--step", "61"}, 3), HasSubstr("has not come to step 61; its last recorded step"));
  EXPECT_THAT(refused({path("nowhere"), "--step", "1"}, 3), HasSubstr("nowhere"));
  EXPECT_THAT(refused({path("past"), "--step", "5", "--with", "/nowhere/gdb"}, 1), HasSubstr("/nowhere/gdb"));
  std::ofstream(path("past.toml"), std::ios::app) << "# another file\n";
  EXPECT_THAT(refused({path("past"), "--step", "1"}, 2), HasSubstr("past.toml: has changed since the launch"));
}

}  // namespace
}  // namespace trainyard
