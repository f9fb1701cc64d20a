// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "archive/launch_record.h"
#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"
#include "launch/run/directory_lock.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/past_runs.h"

namespace trainyard::tools {

using namespace trainyard::testing;
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;

/// Runs the real command in a folder with two runs: "narrow", which has ended, and "wide", which is active because this
/// process appears as its launcher.
class RunsTest : public ::testing::Test {
 protected:
  RunsTest() : before_(fs::current_path()) {
    fs::current_path(folder_.path());
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    ::setenv("TZ", "UTC", 1);
    archive::LaunchRecord launch;
    launch.number = 1;
    launch.run = "narrow-1ab";
    launch.file = "narrow.toml";
    launch.arguments = {"devices=2"};
    launch.git = archive::GitState{"0123456789abcdef", "main", true};
    launch.launcher = archive::this_process();
    launch.started_ns = 1'732'176'886 * kSecond;
    launch.ended_ns = launch.started_ns + 100 * kSecond;
    launch.state = archive::LaunchState::kEnded;
    launch.reason = "max_steps = 30 reached";
    write("narrow", launch, "[64]");
    launch.run = "wide-1cd";
    launch.state = archive::LaunchState::kRunning;
    launch.ended_ns = 0;
    write("wide", launch, "[512]");
    folder_.write("runs/narrow/metrics_train.csv",
                  "step,epoch,time,samples,loss\r\n10,0,1732176890.0,640,2.5\r\n20,0,1732176900.0,1280,0.5\r\n");
    folder_.write("runs/narrow/metrics_validate.csv",
                  "step,epoch,time,samples,loss,accuracy\r\n10,0,1732176891.0,640,1.5,0.25\r\n"
                  "20,0,1732176901.0,1280,1.75,0.75\r\n");
    folder_.write("runs/wide/metrics_validate.csv",
                  "step,epoch,time,samples,loss,accuracy\r\n10,0,1732176891.0,640,1.25,0.5\r\n");
  }
  ~RunsTest() override { fs::current_path(before_); }

  void write(const std::string& name, const archive::LaunchRecord& launch, const std::string& hidden) const {
    const std::string folder = "runs/" + name + "/launches/1/";
    folder_.write(folder + "launch.json", archive::format_launch_record(launch));
    folder_.write(folder + "plan.json",
                  R"({"seed": 1, "world_size": 2, "components": [{"name": "rank0/accelerator_host", "plugin":
                  "accelerator_host", "parameters": {"model": {"plugin": "mlp", "hidden": )" +
                      hidden + "}}}]}");
  }

  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TRAINYARD_COMMAND);
    const launch::ChildOutput output = launch::run_child(arguments, std::chrono::seconds(60));
    out_ = output.text;
    err_ = output.errors;
    return WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
  }

  TemporaryFolder folder_;
  fs::path before_;
  std::string out_;
  std::string err_;
};

TEST_F(RunsTest, ListsRunsAndMarksThoseThatGoOn) {
  ASSERT_EQ(run({"runs", "list"}), kExitOk) << err_;
  EXPECT_THAT(out_, ContainsRegex("\n  narrow  ended    2024-11-21 08:14  01:40 +20    0.5   1.5\n"));
  EXPECT_THAT(out_, ContainsRegex("\n\\* wide    running  2024-11-21 08:14 .* -     -     1.25\n"));
  ASSERT_EQ(run({"runs", "list", "--json"}), kExitOk);
  const json all = json::parse(out_);
  EXPECT_EQ(all.at(0).at("name"), "narrow");
  EXPECT_EQ(all.at(0).at("loss").at("value"), 0.5);
  EXPECT_EQ(all.at(0).at("best_validation_loss").at("step"), 10);
  EXPECT_EQ(all.at(1).at("state"), "running");
  EXPECT_TRUE(all.at(1).at("loss").is_null());
}

TEST_F(RunsTest, ListsTheOtherRunsIfOneIsBroken) {
  folder_.write("runs/broken/launches/1/launch.json", "{");
  folder_.write("runs/broken/metrics_train.csv", "no,table\n");
  ASSERT_EQ(run({"runs", "list"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("narrow"));
  EXPECT_THAT(out_, ContainsRegex("\n  broken  -        - "));
  EXPECT_THAT(err_, HasSubstr("warning: runs/broken/launches/1/launch.json: is not a JSON object"));
  EXPECT_THAT(err_, HasSubstr("warning: runs/broken/metrics_train.csv: is no table of metrics"));
  EXPECT_EQ(run({"runs", "best"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("narrow"));
  EXPECT_EQ(run({"runs", "show", "broken"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("state     unknown: no launch has kept a record here\n"));
}

TEST_F(RunsTest, ShowsARunByItsFolderItsNameAndTheNameOfItsLaunch) {
  for (const char* name : {"narrow", "runs/narrow", "narrow-1ab"}) {
    ASSERT_EQ(run({"runs", "show", name}), kExitOk) << err_;
    EXPECT_THAT(out_, HasSubstr("state     ended: max_steps = 30 reached\n")) << name;
    EXPECT_THAT(out_, HasSubstr("file      narrow.toml devices=2\n"));
    EXPECT_THAT(out_, HasSubstr("git       0123456789ab on main, with uncommitted changes\n"));
    EXPECT_THAT(out_, ContainsRegex("validate/accuracy  0.75  20    0.25      10    0.75     20\n"));
    EXPECT_THAT(out_, ContainsRegex("accelerator_host.model.hidden  +\\[64\\]\n"));
  }
  ASSERT_EQ(run({"runs", "show", "narrow", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(out_).at("launches").at(0).at("last_step"), 20);
  EXPECT_EQ(run({"runs", "show", "narow"}), kExitNotFound);
  EXPECT_EQ(err_,
            "trainyard: no run 'narow': it is neither the output directory of a run nor a run in the folder runs; did "
            "you mean 'narrow'? known: narrow, wide\n");
}

TEST_F(RunsTest, ComparesParametersAndMarksDifferences) {
  ASSERT_EQ(run({"runs", "compare", "narrow", "wide"}), kExitOk) << err_;
  EXPECT_THAT(out_, ContainsRegex("\n\\* accelerator_host.model.hidden  \\[64\\]    \\[512\\]\n"));
  EXPECT_THAT(out_, ContainsRegex("\n  accelerator_host.model.plugin  mlp     mlp\n"));
  EXPECT_THAT(out_, ContainsRegex("\n  validate/loss, smallest      1.5 @10   1.25 @10\n"));
  EXPECT_THAT(out_, ContainsRegex("\n  train/loss, last             0.5 @20   -\n"));
  ASSERT_EQ(run({"runs", "compare", "narrow", "wide", "--differences"}), kExitOk);
  EXPECT_THAT(out_, Not(HasSubstr("accelerator_host.model.plugin")));
  EXPECT_EQ(run({"runs", "compare", "narrow"}), kExitUsage);
}

TEST_F(RunsTest, RanksRunsByAMetric) {
  ASSERT_EQ(run({"runs", "best"}), kExitOk) << err_;
  EXPECT_LT(out_.find("wide"), out_.find("narrow"));
  ASSERT_EQ(run({"runs", "best", "--by", "validate/accuracy", "--max", "--count", "1", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(out_).size(), 1);
  EXPECT_EQ(json::parse(out_).at(0).at("name"), "narrow");
  EXPECT_EQ(run({"runs", "best", "--by", "validate/acuracy"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("no run has a value of 'validate/acuracy'; did you mean 'validate/accuracy'?"));
  EXPECT_EQ(run({"runs", "best", "nowhere"}), kExitNotFound);
}

TEST_F(RunsTest, RemovesOnlyWithConsentAndOnlyWhatRunsMade) {
  folder_.write("runs/narrow/notes.txt", "mine");
  EXPECT_EQ(run({"runs", "rm", "narrow"}), kExitUsage);
  EXPECT_TRUE(fs::exists("runs/narrow/metrics_train.csv"));
  // If one of the names is wrong, nothing is removed.
  EXPECT_EQ(run({"runs", "rm", "narrow", "wid", "--yes"}), kExitNotFound);
  EXPECT_TRUE(fs::exists("runs/narrow/metrics_train.csv"));
  EXPECT_EQ(run({"runs", "rm", "narrow", "--yes"}), kExitOk) << err_;
  EXPECT_EQ(out_, "runs/narrow: 4 files removed\n  left, because no run made it: notes.txt\n");
  EXPECT_TRUE(fs::exists("runs/narrow/notes.txt"));
  EXPECT_FALSE(fs::exists("runs/narrow/metrics_train.csv"));
  EXPECT_EQ(run({"runs", "rm", "wide", "--yes"}), kExitOk) << err_;
  EXPECT_FALSE(fs::exists("runs/wide"));
}

TEST_F(RunsTest, RemovesNoRunThatUsesItsDirectory) {
  const launch::DirectoryLock lock("runs/wide", launch::this_launcher("wide-1cd", "wide.toml"));
  EXPECT_EQ(run({"runs", "rm", "wide", "--yes"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("trainyard: runs/wide is not removed: a run is using it: 'wide-1cd'"));
  EXPECT_TRUE(fs::exists("runs/wide/metrics_validate.csv"));
}

TEST_F(RunsTest, PlotsCurvesAsTextAndAsAPicture) {
  ::setenv("LC_ALL", "C", 1);
  ASSERT_EQ(run({"plot", "narrow", "wide", "--y", "validate/loss", "--width", "60", "--height", "12"}), kExitOk)
      << err_;
  EXPECT_THAT(out_, HasSubstr("** narrow validate/loss  1.75\n++ wide validate/loss  1.25\n"));
  ::setenv("LC_ALL", "C.UTF-8", 1);
  ASSERT_EQ(run({"plot", "narrow", "--y", "validate/loss"}), kExitOk) << err_;
  EXPECT_THAT(out_, HasSubstr("└"));
  ::unsetenv("LC_ALL");
  ASSERT_EQ(run({"plot", "runs/narrow/metrics_train.csv", "--svg", "loss.svg", "--smooth", "0.5"}), kExitOk) << err_;
  EXPECT_THAT(out_, IsEmpty());
  EXPECT_TRUE(fs::exists("loss.svg"));
  EXPECT_EQ(run({"plot", "narrow", "--y", "acuracy"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("no metric 'acuracy'; did you mean"));
  EXPECT_EQ(run({"plot", "narrow", "--follow"}), kExitUsage);
  EXPECT_EQ(std::ranges::count(err_, '\n'), 1);
}

TEST(PastRunsTest, WritesDurationsAsUsersReadThem) {
  EXPECT_EQ(duration_text(0), "-");
  EXPECT_EQ(duration_text(3'240'000'000), "3.2 s");
  EXPECT_EQ(duration_text(192 * kSecond), "03:12");
  EXPECT_EQ(duration_text(3792 * kSecond), "1:03:12");
  EXPECT_EQ(duration_text((2 * 86400 + 3780) * kSecond), "2d 01:03");
}

}  // namespace
}  // namespace trainyard::tools
