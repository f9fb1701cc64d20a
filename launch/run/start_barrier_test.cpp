// SPDX-License-Identifier: Apache-2.0
#include "launch/run/start_barrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

using Stage = StartBarrier::Stage;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(StartBarrierTest, OpensWhenTheLastHasPassed) {
  StartBarrier barrier({"a", "b"});
  barrier.configured("a", {});
  EXPECT_FALSE(barrier.all_at_least(Stage::kConfigured));
  barrier.configured("b", {});
  EXPECT_TRUE(barrier.all_at_least(Stage::kConfigured));
  EXPECT_FALSE(barrier.all_at_least(Stage::kConnected));
}

TEST(StartBarrierTest, NamesThoseWhoAreMissingAndWhatIsAwaited) {
  StartBarrier barrier({"a", "b", "c"});
  barrier.set_stage("a", Stage::kConfiguring);
  barrier.configured("b", {});
  EXPECT_THAT(barrier.missing(), ElementsAre("process 'a' did not configure its components (no Configured)",
                                             "process 'c' did not answer (no Hello)"));
}

TEST(StartBarrierTest, ForgetsTheEndpointsOfAProcessThatIsGone) {
  StartBarrier barrier({"a", "b"});
  barrier.configured("a", {{"a/main", "ipc://1"}});
  barrier.configured("b", {{"b/main", "ipc://2"}});
  barrier.reset("a");
  EXPECT_THAT(barrier.endpoints(), ElementsAre(Pair("b/main", "ipc://2")));
  EXPECT_EQ(barrier.stage("a"), Stage::kStarting);
  barrier.configured("a", {{"a/main", "ipc://3"}});
  EXPECT_THAT(barrier.endpoints(), ElementsAre(Pair("a/main", "ipc://3"), Pair("b/main", "ipc://2")));
}

TEST(StartBarrierTest, IsOpenForNobody) { EXPECT_TRUE(StartBarrier({}).all_at_least(Stage::kConnected)); }

}  // namespace
}  // namespace trainyard::launch
