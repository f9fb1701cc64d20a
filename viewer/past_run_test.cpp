// SPDX-License-Identifier: Apache-2.0
#include "viewer/past_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/testing/temporary_folder.h"

namespace trainyard::viewer {
namespace {

using archive::LaunchState;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PastRunTest : public ::testing::Test {
 protected:
  void write_launch(LaunchState state, const std::string& reason, std::uint32_t number = 1) {
    archive::LaunchRecord launch{.number = number, .run = "mnist-9ix", .name = "mnist", .file = "mnist.toml"};
    launch.launcher = archive::this_process();
    launch.launcher.start_ticks += 1;  // No process started at this time.
    launch.state = state;
    launch.reason = reason;
    folder_.write("out/launches/" + std::to_string(number) + "/launch.json", archive::format_launch_record(launch));
  }

  Ending ending() const { return ending_of(archive::read_run(folder_.path("out"))); }

  Identity identity() const { return {.run = "mnist-9ix", .directory = folder_.path("out")}; }

  json read() {
    enter_record(archive::read_run(folder_.path("out")), book_);
    read_output_directory(identity(), book_, {});
    return book_.read(&Shelves::curves).list();
  }

  Curve curve(const std::string& name = "loss") const { return book_.read(&Shelves::curves).curve("train", name, {}); }

  trainyard::testing::TemporaryFolder folder_;
  Book book_{Identity{.run = "mnist-9ix"}};
};

TEST_F(PastRunTest, TheRecordSaysHowARunEnded) {
  write_launch(LaunchState::kFailed, "data_loader: the file is damaged");
  EXPECT_EQ(ending().phase, RunPhase::kFailed);
  EXPECT_EQ(ending().message, "data_loader: the file is damaged");
  write_launch(LaunchState::kInterrupted, "SIGINT came", 2);
  EXPECT_EQ(ending().phase, RunPhase::kInterrupted) << "the newest launch counts";
  EXPECT_EQ(ending().message, "SIGINT came");
}

TEST_F(PastRunTest, ALaunchWithoutAnEndWhoseLauncherIsDeadWasKilled) {
  write_launch(LaunchState::kRunning, "");
  EXPECT_EQ(ending().phase, RunPhase::kKilled);
  EXPECT_EQ(ending().message, "the launcher was killed");
}

TEST_F(PastRunTest, OfARunWithoutARecordNothingIsKnown) {
  folder_.write("out/metrics.jsonl", "");
  EXPECT_EQ(ending().phase, RunPhase::kUnknown);
  EXPECT_THAT(ending().message, HasSubstr("no record"));
}

TEST_F(PastRunTest, TheRecordOfALaunchIsFoundByTheNameOfTheRun) {
  write_launch(LaunchState::kEnded, "");
  EXPECT_TRUE(record_of_launch(folder_.path("out"), "mnist-9ix").has_value());
  EXPECT_FALSE(record_of_launch(folder_.path("out"), "mnist-2ab").has_value());
  EXPECT_FALSE(record_of_launch(folder_.path("nowhere"), "mnist-9ix").has_value());
}

TEST_F(PastRunTest, HyperparametersComeFromThePlan) {
  write_launch(LaunchState::kEnded, "");
  folder_.write("out/launches/1/plan.json", R"({"seed": 7, "world_size": 2, "components": [
      {"name": "rank0/optimizer", "plugin": "optimizer", "parameters": {"lr": 0.5}},
      {"name": "rank1/optimizer", "plugin": "optimizer", "parameters": {"lr": 0.5}}]})");
  read();
  EXPECT_EQ(book_.read(&Shelves::hyperparameters), json::parse(R"({"seed": 7, "ranks": 2, "optimizer.lr": 0.5})"));
}

TEST_F(PastRunTest, WhatCannotBeReadIsSaidAndTheRestIsShown) {
  write_launch(LaunchState::kEnded, "");
  folder_.write("out/launches/1/plan.json", "{");
  folder_.write("out/launches/2/launch.json", "{");
  folder_.write("out/metrics.jsonl",
                "{\"kind\":\"metrics\",\"time\":1,\"stage\":\"train\",\"step\":1,\"values\":{\"loss\":2}}\n");
  EXPECT_EQ(read().size(), 1u);
  const json records = book_.read(&Shelves::log).find({})["records"];
  ASSERT_EQ(records.size(), 2u);
  EXPECT_THAT(records[0]["text"].get<std::string>(), HasSubstr("launches/2/launch.json"));
  EXPECT_THAT(records[1]["text"].get<std::string>(), HasSubstr("plan.json: is not JSON"));
}

TEST_F(PastRunTest, WithoutMetricsJsonlTheTablesAreRead) {
  folder_.write("out/metrics_train.csv", "step,epoch,time,samples,loss,lr\n1,0,10,4,2.5,0.1\n2,0,11,8,1.5,\n");
  folder_.write("out/metrics_validate.csv", "step,epoch,time,samples,loss\n2,0,12,8,3.5\n");
  read();
  EXPECT_THAT(curve().mean, ElementsAre(2.5, 1.5));
  EXPECT_THAT(curve("lr").mean, ElementsAre(0.1));
  EXPECT_EQ(book_.read(&Shelves::step), 2u);
}

TEST_F(PastRunTest, OfStepsThatALaterLaunchRepeatedOnlyTheNewestCount) {
  std::string lines;
  int time = 0;
  // The second launch resumes after step 1, and the third launch begins at step 1.
  for (const auto& [step, loss] : std::vector<std::pair<int, int>>{{1, 9}, {2, 8}, {3, 7}, {2, 6}, {4, 5}, {1, 4}}) {
    lines +=
        fmt::format("{{\"kind\":\"metrics\",\"time\":{},\"stage\":\"train\",\"step\":{},\"values\":{{\"loss\":{}}}}}\n",
                    ++time, step, loss);
    folder_.write("out/metrics.jsonl", lines);
    if (step != 4) continue;
    Book book{Identity{.run = "mnist-9ix"}};
    read_output_directory(identity(), book, {});
    const Curve now = book.read(&Shelves::curves).curve("train", "loss", {});
    EXPECT_THAT(now.x, ElementsAre(1, 2, 4));
    EXPECT_THAT(now.mean, ElementsAre(9, 6, 5));
  }
  read();
  EXPECT_THAT(curve().x, ElementsAre(1));
  EXPECT_THAT(curve().mean, ElementsAre(4));
}

TEST_F(PastRunTest, AlertsFollowFromTheMetricsAndChangesFromTheirFile) {
  folder_.write("out/metrics.jsonl",
                "{\"kind\":\"metrics\",\"time\":1,\"stage\":\"train\",\"step\":5,\"values\":{},"
                "\"not_finite\":{\"loss\":\"NaN\"}}\n");
  const Change change{7, 3, "optimizer", "lr", 0.1, 0.2, "viewer (control)"};
  folder_.write("out/changes.jsonl", "nonsense\n" + json_of(change).dump() + "\n");
  read();
  const json alerts = book_.read(&Shelves::alerts).list();
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0]["text"], "train/loss is not a number at step 5");
  EXPECT_EQ(book_.read(&Shelves::changes).list(), json::array({json_of(change)}));
}

}  // namespace
}  // namespace trainyard::viewer
