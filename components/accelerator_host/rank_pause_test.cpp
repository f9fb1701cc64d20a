// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/rank_pause.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/rendezvous/rendezvous.h"

namespace trainyard::host {
namespace {

TEST(RankPauseTest, ARankRestsFromThePauseUntilItGoesOn) {
  RankPause pause;
  EXPECT_TRUE(pause.pass());
  EXPECT_FALSE(pause.come_to_rest(/*idle=*/false).has_value()) << "no pause is wanted";
  pause.want(7);
  EXPECT_TRUE(pause.wanted());
  EXPECT_FALSE(pause.pass()) << "it has begun the last unit";
  EXPECT_EQ(pause.come_to_rest(/*idle=*/false), 7u);
  EXPECT_TRUE(pause.resting());
  EXPECT_FALSE(pause.wanted());
  EXPECT_FALSE(pause.come_to_rest(/*idle=*/false).has_value()) << "it is answered once";
  pause.go_on();
  EXPECT_FALSE(pause.resting());
  EXPECT_TRUE(pause.pass());
}

TEST(RankPauseTest, GoingOnDoesNotWithdrawAPauseThatTheRankHasNotComeTo) {
  RankPause pause;
  pause.want(7);
  pause.go_on();
  EXPECT_TRUE(pause.wanted());
  EXPECT_EQ(pause.come_to_rest(/*idle=*/false), 7u);
}

TEST(RankPauseTest, OnePauseFollowsAnother) {
  RankPause pause;
  for (std::uint64_t order : {3u, 5u, 8u}) {
    EXPECT_TRUE(pause.pass());
    pause.want(order);
    EXPECT_EQ(pause.come_to_rest(/*idle=*/false), order);
    pause.go_on();
  }
}

TEST(RankPauseTest, ARankThatIsBehindRestsOnlyAfterTheUnitOfTheForemost) {
  const std::unique_ptr<core::Rendezvous> rendezvous = core::make_local_rendezvous();
  PluginContext context;
  context.world_size = 2;
  context.rendezvous = rendezvous.get();
  RankPause ahead(context, std::chrono::seconds(20));
  context.rank = 1;
  RankPause behind(context, std::chrono::seconds(20));
  EXPECT_TRUE(ahead.pass());
  behind.want(4);
  EXPECT_FALSE(behind.come_to_rest(/*idle=*/false).has_value());
  EXPECT_TRUE(behind.pass());
  EXPECT_EQ(behind.come_to_rest(/*idle=*/false), 4u);
  EXPECT_FALSE(ahead.pass()) << "though it has not heard of the pause";
  ahead.want(4);
  EXPECT_EQ(ahead.come_to_rest(/*idle=*/false), 4u);
}

TEST(RankPauseTest, RanksOfSeveralHostsRestWhenTheyHaveCarriedOutTheirOrders) {
  const std::unique_ptr<core::Rendezvous> rendezvous = core::make_local_rendezvous();
  PluginContext context;
  context.world_size = 2;
  context.rendezvous = rendezvous.get();
  rendezvous->put("turnstile/place.1", "another host");
  RankPause pause(context, std::chrono::seconds(20));
  EXPECT_TRUE(pause.pass());
  pause.want(4);
  EXPECT_TRUE(pause.pass()) << "the orders before the pause are carried out";
  EXPECT_FALSE(pause.come_to_rest(/*idle=*/false).has_value());
  EXPECT_EQ(pause.come_to_rest(/*idle=*/true), 4u);
  pause.go_on();
  EXPECT_TRUE(pause.pass());
}

TEST(RankPauseTest, ARankOnAnotherHostDoesNotOpenTheMemoryOfRankZero) {
  const std::unique_ptr<core::Rendezvous> rendezvous = core::make_local_rendezvous();
  PluginContext context;
  context.rank = 1;
  context.world_size = 2;
  context.rendezvous = rendezvous.get();
  rendezvous->put("turnstile", "another host\na handle");
  EXPECT_NO_THROW(RankPause(context, std::chrono::seconds(20)));
}

}  // namespace
}  // namespace trainyard::host
