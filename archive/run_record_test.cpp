// SPDX-License-Identifier: Apache-2.0
#include "archive/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "archive/output_files.h"
#include "archive/small_file.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard::archive {

using namespace trainyard::testing;
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

LaunchRecord example() {
  LaunchRecord launch;
  launch.number = 3;
  launch.run = "mnist-9ix";
  launch.name = "mnist";
  launch.file = "mnist.toml";
  launch.arguments = {"devices=2", "component.optimizer.params.lr=0.1"};
  launch.working_directory = "/home/ada";
  launch.files = {{"/home/ada/mnist.toml", "files/mnist.toml"}};
  launch.seed = 18446744073709551615u;
  launch.ranks = 2;
  launch.versions = {"0.1", "1.13.1", "GNU 12.2.0", "Debian GNU/Linux 12 (bookworm)"};
  launch.git = GitState{"0123456789abcdef", "main", true};
  launch.launcher = this_process();
  launch.started_ns = 1732176886'123456789;
  launch.ended_ns = 1732176890'000000001;
  launch.state = LaunchState::kInterrupted;
  launch.reason = "SIGINT came";
  return launch;
}

class RunRecordTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  void write(const std::string& name, const std::string& text = "x") const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }

  void write_launch(const std::string& run, LaunchRecord launch) const {
    write(run + "/launches/" + std::to_string(launch.number) + "/launch.json", format_launch_record(launch));
  }

  TemporaryFolder folder_;
};

TEST_F(RunRecordTest, ALaunchReadsBackAsItWasWritten) {
  const LaunchRecord launch = example();
  const std::string text = format_launch_record(launch);
  const LaunchRecord read = parse_launch_record(text, "launch.json");
  EXPECT_EQ(format_launch_record(read), text);
  EXPECT_EQ(read.seed, launch.seed);
  EXPECT_EQ(read.started_ns, launch.started_ns);
  EXPECT_EQ(read.git->commit, "0123456789abcdef");
  EXPECT_EQ(read.arguments, launch.arguments);
  EXPECT_EQ(read.state, LaunchState::kInterrupted);
  LaunchRecord without_git = launch;
  without_git.git.reset();
  EXPECT_FALSE(parse_launch_record(format_launch_record(without_git), "launch.json").git);
}

TEST_F(RunRecordTest, RefusesARecordThatItCannotUnderstand) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      parse_launch_record(text, "a/launch.json");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("{"), "a/launch.json: is not a JSON object");
  EXPECT_THAT(error_of("{}"), HasSubstr("a/launch.json: "));
  json record = json::parse(format_launch_record(example()));
  record["format"] = 7;
  EXPECT_EQ(error_of(record.dump()), "a/launch.json: has format 7, but this version reads only format 1");
  record["format"] = 1;
  record["state"] = "killed";
  EXPECT_EQ(error_of(record.dump()),
            "a/launch.json: state: \"killed\" is not allowed; running, ended, failed or interrupted");
  record["state"] = "ended";
  record["arguments"] = 5;
  EXPECT_THAT(error_of(record.dump()), HasSubstr("a/launch.json: "));
}

TEST_F(RunRecordTest, TellsALauncherThatWasKilledFromOneThatRuns) {
  LaunchRecord launch = example();
  EXPECT_EQ(state_now(launch), LaunchState::kInterrupted);
  launch.state = LaunchState::kRunning;
  EXPECT_EQ(state_now(launch), LaunchState::kRunning);
  // A process with this pid exists, but it was started at another time than the launcher.
  ++launch.launcher.start_ticks;
  EXPECT_EQ(state_now(launch), LaunchState::kKilled);
  --launch.launcher.start_ticks;
  launch.launcher.boot = "before";
  EXPECT_EQ(state_now(launch), LaunchState::kKilled);
  launch.launcher.host = "elsewhere";
  EXPECT_EQ(state_now(launch), LaunchState::kUnknown);
}

TEST_F(RunRecordTest, FindsRunsBelowAFolderAndReadsTheirLaunchesInOrder) {
  LaunchRecord launch = example();
  for (const std::uint32_t number : {10, 2, 1}) {
    launch.number = number;
    write_launch("mnist", launch);
  }
  write("sweep/a/metrics_train.csv");
  write("sweep/b/metrics.jsonl");
  write("old/checkpoints/step-00000010/manifest.json");
  write("notes/readme.txt");
  fs::create_directory_symlink(path("mnist"), path("again"));
  const std::vector<RunRecord> runs = find_runs(folder_.path());
  std::vector<std::string> names;
  for (const RunRecord& run : runs) names.push_back(run.name);
  EXPECT_THAT(names, ElementsAre("mnist", "old", "sweep/a", "sweep/b"));
  ASSERT_EQ(runs[0].launches.size(), 3);
  EXPECT_EQ(runs[0].launches[0].number, 1);
  EXPECT_EQ(runs[0].last()->number, 10);
  EXPECT_EQ(runs[1].last(), nullptr);
  EXPECT_EQ(next_launch_number(path("mnist")), 11);
  EXPECT_EQ(next_launch_number(path("old")), 1);
  // If the folder is itself an output directory, the run has the name of the folder.
  EXPECT_EQ(find_runs(path("mnist")).at(0).name, "mnist");
  EXPECT_THROW(find_runs(path("nothing")), Error);
  EXPECT_THROW(read_run(path("notes")), Error);
}

TEST_F(RunRecordTest, KeepsTheOtherLaunchesIfOneCannotBeRead) {
  write_launch("mnist", example());
  write("mnist/launches/4/launch.json", "{");
  fs::create_directories(path("mnist/launches/5"));
  const RunRecord run = read_run(path("mnist"));
  EXPECT_EQ(run.launches.size(), 1);
  EXPECT_THAT(run.unreadable, ElementsAre(HasSubstr("launches/4/launch.json: is not a JSON object"),
                                          HasSubstr("launches/5/launch.json")));
}

TEST_F(RunRecordTest, KnowsTheLastStepOfEachLaunchByTheTimesOfTheRows) {
  RunRecord run;
  for (const std::int64_t started : {100, 200, 300}) {
    run.launches.emplace_back();
    run.launches.back().started_ns = started;
  }
  MetricsTable table;
  table.steps = {10, 20, 30, 25, 35};
  table.times_ns = {110, 120, 130, 310, 320};
  EXPECT_EQ(last_step(run, 0, table), 30);
  EXPECT_EQ(last_step(run, 1, table), std::nullopt);
  EXPECT_EQ(last_step(run, 2, table), 35);
}

TEST_F(RunRecordTest, FlattensWhatThePlanChose) {
  write_launch("mnist", example());
  write("mnist/launches/3/plan.json", R"({"seed": 7, "world_size": 2, "components": [
    {"name": "rank0/optimizer", "plugin": "optimizer", "parameters": {"lr": 0.1}},
    {"name": "rank1/optimizer", "plugin": "optimizer", "parameters": {"lr": 0.1}},
    {"name": "rank0/accelerator_host", "plugin": "mine", "parameters": {"model": {"plugin": "mlp", "hidden": [128]}}},
    {"name": "logger", "plugin": "logger", "parameters": {}}]})");
  const auto chosen = hyperparameters(read_run(path("mnist")));
  EXPECT_THAT(chosen, UnorderedElementsAre(std::pair("seed", json(7)), std::pair("ranks", json(2)),
                                           std::pair("optimizer.lr", json(0.1)),
                                           std::pair("accelerator_host.plugin", json("mine")),
                                           std::pair("accelerator_host.model.plugin", json("mlp")),
                                           std::pair("accelerator_host.model.hidden", json::parse("[128]"))));
  write("mnist/launches/3/plan.json", "{}");
  EXPECT_THROW(hyperparameters(read_run(path("mnist"))), Error);
}

TEST_F(RunRecordTest, RemovesWhatRunsMadeAndNothingElse) {
  write_launch("mnist", example());
  for (const char* name :
       {"launches/3/plan.json", "launches/3/files/mnist.toml", "metrics_train.csv", "metrics.jsonl", "insights.jsonl",
        "tensorboard/events.out.tfevents.1.host", "checkpoints/step-00000010/manifest.json",
        "checkpoints/step-00000010/model.safetensors", "checkpoints/.tmp-step-00000020/run.json", "notes.txt",
        "checkpoints/step-00000010/remark.txt", "kept/metrics_train.csv"}) {
    write(std::string("mnist/") + name);
  }
  fs::create_directory_symlink("step-00000010", path("mnist/checkpoints/last"));
  write("elsewhere/metrics.jsonl");
  const Removal removal = remove_run(path("mnist"));
  EXPECT_THAT(removal.failed, IsEmpty());
  EXPECT_EQ(removal.files, 11);
  EXPECT_THAT(removal.left, ElementsAre("checkpoints/step-00000010/remark.txt", "kept", "notes.txt"));
  EXPECT_FALSE(fs::exists(path("mnist/launches")));
  EXPECT_FALSE(fs::exists(path("mnist/tensorboard")));
  EXPECT_TRUE(fs::exists(path("mnist/kept/metrics_train.csv")));
}

TEST_F(RunRecordTest, FollowsNoLinkWhenItRemoves) {
  write("elsewhere/1/launch.json");
  write("elsewhere/step-00000010/manifest.json");
  write("mnist/metrics.jsonl");
  fs::create_directory_symlink(path("elsewhere"), path("mnist/launches"));
  fs::create_directory_symlink(path("elsewhere"), path("mnist/checkpoints"));
  const Removal removal = remove_run(path("mnist"));
  EXPECT_THAT(removal.left, ElementsAre("checkpoints", "launches"));
  EXPECT_TRUE(fs::exists(path("elsewhere/1/launch.json")));
  EXPECT_TRUE(fs::exists(path("elsewhere/step-00000010/manifest.json")));
}

TEST_F(RunRecordTest, WritesAFileWholeOrNotAtAll) {
  write_whole_file(path("a"), "one");
  write_whole_file(path("a"), "two");
  EXPECT_EQ(read_small_file(path("a"), 3), "two");
  EXPECT_THROW(read_small_file(path("a"), 2), Error);
  EXPECT_THROW(write_whole_file(path("no/folder"), "x"), Error);
  EXPECT_THROW(read_small_file(folder_.path(), 100), Error);
}

}  // namespace
}  // namespace trainyard::archive
