// SPDX-License-Identifier: Apache-2.0
// Tests how a RunAgenda begins and ends pauses.
#include "components/strategy_manager/pause.h"

#include "components/strategy_manager/ranks_fixture.h"

namespace trainyard::manager {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PauseTest : public RanksFixture {
 protected:
  /// Sends the answers of all ranks to an order.
  void answer(OrderKind kind, std::uint64_t order, std::uint64_t step) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      agenda_.order_done(
          {.order = order, .rank = rank, .kind = kind, .step = step, .stopped = kind == OrderKind::kStop});
    }
  }

  RunAgenda agenda_{resolved({.max_steps = 60, .limit_val_batches = 0, .steps_per_order = 5}), of(2), {}};
};

TEST_F(PauseTest, OvertakesWhatIsOrderedAndHoldsBackWhatIsNot) {
  ASSERT_TRUE(agenda_.next() && agenda_.next() && !agenda_.next());
  agenda_.pause();
  EXPECT_EQ(text_of(*agenda_.next()), "pause ");
  EXPECT_FALSE(agenda_.next().has_value());
  EXPECT_FALSE(agenda_.resting());
  answer(OrderKind::kTrain, 1, 5);
  EXPECT_FALSE(agenda_.next().has_value()) << "there is room for another order, but the ranks are to rest";
  answer(OrderKind::kPause, 3, 7);
  EXPECT_TRUE(agenda_.resting());
  EXPECT_EQ(agenda_.step_done(), 7u);
  agenda_.go_on();
  EXPECT_EQ(text_of(*agenda_.next()), "go_on ");
  EXPECT_EQ(text_of(*agenda_.next()), "train e1 b0 n5");
}

TEST_F(PauseTest, APauseThatIsEndedTooEarlyEndsWhenAllRest) {
  ASSERT_TRUE(agenda_.next());
  agenda_.pause();
  ASSERT_TRUE(agenda_.next() && !agenda_.next());
  agenda_.go_on();
  EXPECT_FALSE(agenda_.next().has_value());
  answer(OrderKind::kPause, 2, 3);
  EXPECT_EQ(text_of(*agenda_.next()), "go_on ");
}

TEST_F(PauseTest, RanksThatRestAfterDifferentStepsAreABug) {
  ASSERT_TRUE(agenda_.next());
  agenda_.pause();
  ASSERT_TRUE(agenda_.next());
  agenda_.order_done({.order = 2, .rank = 0, .kind = OrderKind::kPause, .step = 3, .all_steps = 3});
  EXPECT_THAT(
      [&] { agenda_.order_done({.order = 2, .rank = 1, .kind = OrderKind::kPause, .step = 3, .all_steps = 4}); },
      ThrowsMessage<Error>(
          HasSubstr("ranks rest after different steps: one has made or skipped 3 steps, another 4 (it is at step 3)")));
}

TEST_F(PauseTest, RanksThatHaveSkippedDifferentStepsRestTogether) {
  ASSERT_TRUE(agenda_.next());
  agenda_.pause();
  ASSERT_TRUE(agenda_.next());
  agenda_.order_done({.order = 2, .rank = 0, .kind = OrderKind::kPause, .step = 3, .all_steps = 3});
  agenda_.order_done({.order = 2, .rank = 1, .kind = OrderKind::kPause, .step = 1, .all_steps = 3});
  EXPECT_TRUE(agenda_.resting());
}

TEST_F(PauseTest, AStopBringsAllRanksToRestFirst) {
  ASSERT_TRUE(agenda_.next() && agenda_.next());
  agenda_.stop("enough");
  EXPECT_EQ(text_of(*agenda_.next()), "pause ");
  EXPECT_FALSE(agenda_.next().has_value());
  answer(OrderKind::kPause, 3, 2);
  EXPECT_EQ(text_of(*agenda_.next()), "stop enough");
  answer(OrderKind::kStop, 4, 2);
  EXPECT_EQ(text_of(*agenda_.next()), "checkpoint interrupted");
  answer(OrderKind::kCheckpoint, 5, 2);
  agenda_.checkpoint_done({.order = 5, .step = 2});
  EXPECT_EQ(agenda_.outcome()->reason, "enough after step 2");
}

TEST_F(PauseTest, APauseThatIsRequestedAfterTheStopHasNoEffect) {
  ASSERT_TRUE(agenda_.next());
  agenda_.stop("enough");
  EXPECT_EQ(text_of(*agenda_.next()), "pause ");
  answer(OrderKind::kPause, 2, 2);
  EXPECT_EQ(text_of(*agenda_.next()), "stop enough");
  agenda_.pause();
  EXPECT_FALSE(agenda_.next().has_value());
  answer(OrderKind::kStop, 3, 2);
  EXPECT_EQ(text_of(*agenda_.next()), "checkpoint interrupted") << "nothing would end the pause before it";
  answer(OrderKind::kCheckpoint, 4, 2);
  agenda_.checkpoint_done({.order = 4, .step = 2});
  EXPECT_TRUE(agenda_.resting()) << "there is nothing left to do";
}

TEST_F(PauseTest, AStopDuringAPauseNeedsNoOther) {
  ASSERT_TRUE(agenda_.next());
  agenda_.pause();
  ASSERT_TRUE(agenda_.next());
  agenda_.stop("enough");
  EXPECT_FALSE(agenda_.next().has_value());
  answer(OrderKind::kPause, 2, 4);
  EXPECT_EQ(text_of(*agenda_.next()), "stop enough");
}

TEST_F(PauseTest, CheckpointsRecordWhatWasChanged) {
  agenda_.record({{"optimizer", "lr", "0.5", "0.1"}});
  ASSERT_TRUE(agenda_.next());
  ASSERT_TRUE(agenda_.add_checkpoint());
  const std::optional<Order> checkpoint = agenda_.next();
  ASSERT_EQ(checkpoint->settings.size(), 1u);
  EXPECT_EQ(checkpoint->settings[0].parameter, "lr");
}

}  // namespace
}  // namespace trainyard::manager
