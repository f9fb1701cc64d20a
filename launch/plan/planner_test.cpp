// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/planner.h"

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

class PlannerTest : public testing::PlanFixture {};

TEST_F(PlannerTest, CopiesWhatIsSaidAboutTheRun) {
  const Plan plan =
      plan_six("[run]\nname = 'b'\ndirectory = '/x'\nlog_level = 'debug'\nstop_timeout_s = 2\nflush_denormals = false");
  EXPECT_EQ(plan.run, "b");
  EXPECT_EQ(plan.output_directory, "/x");
  EXPECT_EQ(plan.log_level, LogLevel::kDebug);
  EXPECT_EQ(plan.stop_timeout, std::chrono::seconds(2));
  EXPECT_FALSE(plan.flush_denormals);
  EXPECT_TRUE(plan_six().flush_denormals);
  EXPECT_EQ(plan.file, folder_.path() + "/a.toml");
}

TEST_F(PlannerTest, KnowsTheLibraryOfEveryComponent) {
  EXPECT_EQ(component(plan_six(), "logger").library, "/plugins/components/logger.so");
}

TEST_F(PlannerTest, AMissingPluginIsAnErrorWithTheNearestName) {
  EXPECT_EQ(error_six("[component.extra]\nplugin = 'loger'"),
            "a.toml:3: component.extra.plugin: no component named 'loger'; did you mean 'logger'? known: "
            "accelerator_host, checkpoint_writer, data_loader, logger, optimizer, strategy_manager");
}

TEST_F(PlannerTest, ActivatesSourcesLast) {
  const Plan plan = plan_six();
  ASSERT_EQ(plan.activation.size(), 6u);
  EXPECT_EQ(plan.components[plan.activation.front()].name, "logger");
  EXPECT_EQ(plan.components[plan.activation.back()].name, "data_loader");
}

TEST_F(PlannerTest, CountsRanksByDevices) {
  EXPECT_EQ(plan_six().world_size, 1u);
  for (const std::string one : {"auto", "1", "[3]"}) EXPECT_EQ(plan_six("", {"devices=" + one}).world_size, 1u);
  for (const std::string two : {"2", "[0, 3]", "'2'"}) EXPECT_EQ(plan_six("", {"devices=" + two}).world_size, 2u);
  EXPECT_EQ(plan_six("[topology]\ndevices = '2'").world_size, 2u);
}

TEST_F(PlannerTest, RefusesOtherRequestsForDevices) {
  for (const std::string bad : {"0", "-2", "[]", "many", "1.5"}) {
    const std::string text = error_six("", {"devices=" + bad});
    EXPECT_EQ(text.substr(0, 31), "command line: topology.devices:") << bad;
    EXPECT_NE(text.find("is not allowed; a count from 1 to 4096, a list of device indices, \"auto\" for one rank, or"),
              std::string::npos);
  }
}

TEST_F(PlannerTest, OneNameForEachRank) {
  const Plan plan = plan_six("", {"devices=2", "placement=processes"});
  EXPECT_EQ(plan.components.size(), 9u);
  EXPECT_EQ(component(plan, "rank1/optimizer").rank, 1u);
  EXPECT_EQ(component(plan, "rank1/optimizer").world_size, 2u);
  EXPECT_EQ(component(plan, "rank1/optimizer").process, "rank1.optimizer");
  EXPECT_EQ(component(plan, "logger").process, "logger");
}

TEST_F(PlannerTest, RanksInOneProcessHaveThreadsOfTheirOwn) {
  const Plan plan = plan_six("", {"devices=2", "placement=composed"});
  EXPECT_EQ(component(plan, "rank1/optimizer").process, "main");
  EXPECT_EQ(component(plan, "rank1/optimizer").thread, "rank1.compute");
}

TEST_F(PlannerTest, ProgramsAloneAreARunToo) {
  const Plan plan = this->plan("[component.a]\ncommand = ['cat']\n[component.b]\ncommand = ['tac']");
  EXPECT_TRUE(plan.components.empty());
  EXPECT_TRUE(plan.edges.empty());
  EXPECT_TRUE(plan.activation.empty());
  ASSERT_EQ(plan.processes.size(), 2u);
  EXPECT_EQ(process(plan, "b").command, std::vector<std::string>{"tac"});
  EXPECT_NE(describe(plan).find("tac"), std::string::npos);
}

TEST_F(PlannerTest, IsTheSameEveryTime) {
  EXPECT_EQ(to_json(plan_six("", {"devices=3"})), to_json(plan_six("", {"devices=3"})));
}

}  // namespace
}  // namespace trainyard::launch
