// SPDX-License-Identifier: Apache-2.0
#include "launch/run/launch_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>

#include "archive/run_record.h"
#include "archive/small_file.h"
#include "launch/run/testing/launched_run.h"

namespace trainyard::launch::testing {
namespace {

namespace fs = std::filesystem;
using archive::LaunchState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class LaunchJournalTest : public ::testing::Test {
 protected:
  /// Returns a plan with one fake process and an output directory.
  Plan plan(const std::string& fake) const {
    Plan plan = fake_plan({fake});
    plan.output_directory = folder_.path("runs/fake");
    plan.file = folder_.path("fake.toml");
    plan.arguments = {"devices=2"};
    plan.seed = 7;
    plan.sources = {{plan.file, "include = [\"a/x.toml\", \"b/x.toml\"]\n"},
                    {folder_.path("a/x.toml"), "# a\n"},
                    {folder_.path("b/x.toml"), "# b\n"},
                    {folder_.path("a/x.toml"), "# a\n"}};
    return plan;
  }

  archive::RunRecord record() const { return archive::read_run(folder_.path("runs/fake")); }

  std::string kept(const std::string& file) const {
    return archive::read_small_file(folder_.path("runs/fake/launches/1/" + file), 1 << 20);
  }

  TemporaryFolder folder_;
};

TEST_F(LaunchJournalTest, KeepsWhatTheRunWasMadeOfAndHowItEnded) {
  const Plan made = plan(R"({"finish": "active"})");
  LaunchOptions options;
  options.versions = {"1", "2", "3", "4"};
  LaunchedRun run(made, options);
  ASSERT_EQ(run.exit_code(), 0) << run.output();
  ASSERT_EQ(record().launches.size(), 1);
  const archive::LaunchRecord launch = *record().last();
  EXPECT_EQ(launch.number, 1);
  EXPECT_EQ(launch.state, LaunchState::kEnded);
  EXPECT_EQ(launch.reason, "enough is enough");
  EXPECT_GT(launch.ended_ns, launch.started_ns);
  EXPECT_EQ(launch.file, made.file);
  EXPECT_THAT(launch.arguments, ElementsAre("devices=2"));
  EXPECT_EQ(launch.working_directory, fs::current_path());
  EXPECT_EQ(launch.seed, 7);
  EXPECT_EQ(launch.versions.system, "4");
  EXPECT_EQ(kept("plan.json"), to_json(made, EnvironmentValues::kHidden) + "\n");
  EXPECT_NE(kept("plan.json"), to_json(made) + "\n") << "the environment may contain secrets";
  // Two files with the same name are both copied, but a file that is included twice is copied only once.
  EXPECT_EQ(launch.files.size(), 3);
  EXPECT_EQ(kept("files/fake.toml"), made.sources[0].text);
  EXPECT_EQ(kept("files/x.toml"), "# a\n");
  EXPECT_EQ(kept("files/2-x.toml"), "# b\n");
}

TEST_F(LaunchJournalTest, KeepsTheEarlierLaunchesOfADirectory) {
  for (int i = 0; i < 2; ++i) {
    LaunchedRun run(plan(i == 0 ? R"({"finish": "active"})" : R"({"finish": "active", "success": false})"));
    EXPECT_EQ(run.exit_code(), i) << run.output();
  }
  ASSERT_EQ(record().launches.size(), 2);
  EXPECT_EQ(record().launches[0].state, LaunchState::kEnded);
  EXPECT_EQ(record().launches[1].state, LaunchState::kFailed);
  EXPECT_EQ(record().launches[1].reason, "enough is enough");
  EXPECT_EQ(record().launches[1].number, 2);
}

TEST_F(LaunchJournalTest, TellsARunThatGoesOnFromOneThatWasInterrupted) {
  LaunchedRun run(plan("{}"));
  ASSERT_TRUE(run.reaches("c0", "active")) << run.output();
  ASSERT_TRUE(
      eventually([this] { return archive::is_output_directory(folder_.path("runs/fake")) && record().last(); }));
  EXPECT_EQ(archive::state_now(*record().last()), LaunchState::kRunning);
  EXPECT_EQ(record().last()->launcher.pid, run.launcher());
  ::kill(run.guard(), SIGINT);
  EXPECT_EQ(run.exit_code(), 130);
  EXPECT_EQ(record().last()->state, LaunchState::kInterrupted);
}

TEST_F(LaunchJournalTest, ALauncherThatWasKilledIsKnownByItsRecord) {
  LaunchedRun run(plan("{}"));
  ASSERT_TRUE(run.reaches("c0", "active")) << run.output();
  ASSERT_TRUE(
      eventually([this] { return archive::is_output_directory(folder_.path("runs/fake")) && record().last(); }));
  ::kill(run.launcher(), SIGKILL);
  EXPECT_EQ(run.exit_code(), 1);
  EXPECT_EQ(record().last()->state, LaunchState::kRunning);
  EXPECT_EQ(archive::state_now(*record().last()), LaunchState::kKilled);
}

TEST_F(LaunchJournalTest, ADiskThatRefusesTheRecordIsOneWarningAndNoFailure) {
  // A folder cannot be made below a file, not even by root.
  folder_.write("runs/fake/launches", "in the way");
  LaunchedRun run(plan(R"({"finish": "active"})"));
  EXPECT_EQ(run.exit_code(), 0);
  const std::string output = run.output();
  const std::string warning = "trainyard: warning: the record of this launch is incomplete: cannot make the folder ";
  EXPECT_THAT(output, HasSubstr(warning));
  EXPECT_EQ(output.find(warning), output.rfind(warning)) << output;
  EXPECT_THAT(output, HasSubstr("run finished: enough is enough"));
}

TEST_F(LaunchJournalTest, WaitsForNoGitThatDoesNotAnswer) {
  const std::string fake =
      folder_.write("bin/git", "#!/bin/sh\necho $$ >" + folder_.path("pid") + "\nexec sleep 1000\n");
  fs::permissions(fake, fs::perms::owner_all);
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", (folder_.path("bin") + ":" + before).c_str(), 1);
  {
    LaunchedRun run(plan("{}"));
    ASSERT_TRUE(run.reaches("c0", "active")) << run.output();
    ASSERT_TRUE(
        eventually([this] { return fs::exists(folder_.path("pid")) && fs::file_size(folder_.path("pid")) > 1; }));
    ::kill(run.guard(), SIGINT);
    EXPECT_EQ(run.exit_code(), 130);
  }
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(record().last()->git);
  EXPECT_TRUE(is_gone(std::stoi(archive::read_small_file(folder_.path("pid"), 100))));
}

TEST_F(LaunchJournalTest, APlanWithoutAnOutputDirectoryKeepsNothing) {
  Plan without = plan(R"({"finish": "active"})");
  without.output_directory.clear();
  LaunchedRun run(without);
  EXPECT_EQ(run.exit_code(), 0);
  EXPECT_THAT(run.output(), Not(HasSubstr("warning")));
}

}  // namespace
}  // namespace trainyard::launch::testing
