// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/plan.h"

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

class PlanTest : public testing::PlanFixture {};

TEST_F(PlanTest, AProcessLearnsItsPart) {
  const Plan plan = plan_six("[run]\nseed = 5\nlog_level = 'debug'", {"placement=processes"});
  const ProcessPlan part = process_plan(plan, 3, {"/run/x", {"/plugins"}});
  EXPECT_EQ(part.process, "logger");
  EXPECT_EQ(part.process_index, 3u);
  EXPECT_EQ(part.run, "a");
  EXPECT_EQ(part.run_directory, "/run/x");
  EXPECT_EQ(part.output_directory, "runs/a");
  EXPECT_EQ(part.seed, 5u);
  EXPECT_EQ(part.log_level, LogLevel::kDebug);
  EXPECT_EQ(part.plugin_path, std::vector<std::string>{"/plugins"});
  EXPECT_EQ(part.components.size(), 6u);
}

TEST_F(PlanTest, AProcessGetsTheEdgesThatTouchIt) {
  const Plan plan = plan_six("", {"placement=processes"});
  const ProcessPlan part = process_plan(plan, 3, {"/run/x", {}});
  EXPECT_EQ(part.edges.size(), 4u);  // These come from three senders of metrics and one sender of the model.
  for (const EdgePlan& edge : part.edges) EXPECT_EQ(plan.components[edge.to].name, "logger");
}

TEST_F(PlanTest, EveryThreadBindsAnAddressOfItsOwn) {
  const Plan plan = plan_six();
  EXPECT_EQ(process_plan(plan, 0, {"/run/x", {}}).bind,
            (std::map<std::string, std::string>{{"compute", "ipc:///run/x/0.0"},
                                                {"loader", "ipc:///run/x/0.1"},
                                                {"logger", "ipc:///run/x/0.2"},
                                                {"main", "ipc:///run/x/0.3"}}));
}

TEST_F(PlanTest, AProcessWithAnAddressBindsTcp) {
  const Plan plan = plan_six("component.logger.host = 'localhost'", {"placement=processes"});
  EXPECT_EQ(process_plan(plan, 3, {"/run/x", {}}).bind,
            (std::map<std::string, std::string>{{"logger", "tcp://127.0.0.1:*"}}));
  EXPECT_EQ(process_plan(plan, 3, {.run_directory = "/run/x", .address = "fd00::1"}).bind,
            (std::map<std::string, std::string>{{"logger", "tcp://[fd00::1]:*"}}));
}

TEST_F(PlanTest, PoliciesHaveNames) {
  EXPECT_EQ(name_of(RespawnPolicy::When::kNever), "never");
  EXPECT_EQ(name_of(RespawnPolicy::When::kOnFailure), "on_failure");
  EXPECT_EQ(name_of(RespawnPolicy::When::kAlways), "always");
}

}  // namespace
}  // namespace trainyard::launch
