// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/relays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RelaysTest : public testing::PlanFixture {
 protected:
  RelaysTest() {
    catalogue_.add("collective", "tcp");
    catalogue_.add("component", "checkpoint_writer")
        .inputs.push_back(testing::port("remote_memory", "RemoteMemory", "/remote_memory"));
    core::PluginInfo& relay = catalogue_.add("component", "checkpoint_relay");
    relay.traits.of_kind = ComponentTraits{.per_rank = true, .thread = "io", .restartable = false};
    relay.outputs.push_back(testing::port("remote_memory", "RemoteMemory", "/remote_memory"));
  }

  static std::vector<std::string> relays_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const ComponentPlan& component : plan.components) {
      if (component.plugin == "checkpoint_relay") names.push_back(component.name);
    }
    return names;
  }
};

TEST_F(RelaysTest, EveryRankOnAnotherHostHasOne) {
  const Plan plan = plan_six("", {"nodes=2", "devices=2"});
  EXPECT_THAT(relays_of(plan), ElementsAre("rank2/checkpoint_relay", "rank3/checkpoint_relay"));
  EXPECT_EQ(edges_into(plan, "checkpoint_writer", "remote_memory").size(), 2u);
  for (std::size_t i = 0; i < plan.components.size(); ++i) EXPECT_EQ(plan.components[i].index, i);
}

TEST_F(RelaysTest, ThereAreNoneOnOneHostAndNoneWithoutACheckpointWriter) {
  catalogue_.add("component", "checkpoint_writer").inputs.back().optional = true;
  EXPECT_THAT(relays_of(plan_six("", {"devices=2"})), IsEmpty());
  EXPECT_THAT(relays_of(plan_six("", {"nodes=2", "component.checkpoint_writer.when=false"})), IsEmpty());
}

TEST_F(RelaysTest, TheyAreOnTheHostsWhereTheCheckpointWriterIsNot) {
  const Plan plan = plan_six("component.checkpoint_writer.host = 1", {"nodes=2"});
  EXPECT_THAT(relays_of(plan), ElementsAre("rank0/checkpoint_relay"));
}

TEST_F(RelaysTest, TheirNameCannotBeTaken) {
  EXPECT_THAT(error_six("component.checkpoint_relay.plugin = 'logger'", {"nodes=2"}),
              HasSubstr("component.checkpoint_relay: the name is not allowed in a run on several hosts, because "
                        "'checkpoint_writer' gets components of this name; choose another"));
}

}  // namespace
}  // namespace trainyard::launch
