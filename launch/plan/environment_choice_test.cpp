// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/environment_choice.h"

#include <gmock/gmock.h>

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

class EnvironmentChoiceTest : public testing::PlanFixture {
 protected:
  EnvironmentChoiceTest() {
    catalogue_.add("environment", "slurm");
    catalogue_.add("environment", "hosts").parameters = {testing::parameter("meet_at", ValueKind::kString, "\"\"")};
  }
};

TEST_F(EnvironmentChoiceTest, AnEnvironmentThatIsNotNamedIsDetected) {
  EXPECT_EQ(plan_six("").environment.plugin, "");
  EXPECT_EQ(plan_six("[topology]\nenvironment = 'auto'").environment.plugin, "");
}

TEST_F(EnvironmentChoiceTest, AnEnvironmentIsNamedLikeEveryPlugin) {
  EXPECT_EQ(plan_six("", {"environment=slurm"}).environment.plugin, "slurm");
  EXPECT_EQ(plan_six("", {"environment=slurm"}).environment.parameters, "{}");
  const Plan plan = plan_six("[topology]\nenvironment = { plugin = 'hosts', meet_at = 'a' }");
  EXPECT_EQ(plan.environment.plugin, "hosts");
  EXPECT_EQ(plan.environment.parameters, R"({"meet_at":"a"})");
}

TEST_F(EnvironmentChoiceTest, WhatIsNoEnvironmentIsNamedWithItsLine) {
  EXPECT_EQ(error_six("[topology]\nenvironment = 'slrum'"),
            "a.toml:3: topology.environment: no environment named 'slrum'; did you mean 'slurm'? known: hosts, slurm");
  EXPECT_EQ(error_six("[topology]\nenvironment = { plugin = 'hosts', meet = 'a' }"),
            "a.toml:3: topology.environment.meet: unknown parameter; did you mean 'meet_at'? known: meet_at");
  EXPECT_THAT(error_six("[topology]\nenvironment = 3"), ::testing::HasSubstr("a.toml:3: topology.environment: 3"));
  EXPECT_THAT(error_six("[topology]\nenvironment = { meet_at = 'a' }"), ::testing::HasSubstr("topology.environment"));
}

}  // namespace
}  // namespace trainyard::launch
