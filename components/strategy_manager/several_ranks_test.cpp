// What a RunSchedule makes of the answers of several ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/strategy_manager/fake_host.h"
#include "components/strategy_manager/run_schedule.h"
#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class SeveralRanksTest : public ::testing::Test {
 protected:
  static RunFacts of(std::uint32_t ranks) {
    return {.batches = {{"train", 10}, {"validate", 3}}, .ranks = ranks, .writes_checkpoints = true};
  }
};

TEST_F(SeveralRanksTest, EveryoneMustAnswer) {
  RunSchedule schedule(resolved({.max_steps = 6, .steps_per_order = 2}), of(2), {});
  ASSERT_TRUE(schedule.next() && schedule.next() && !schedule.next());
  schedule.order_done({.order = 1, .kind = "train", .step = 2});
  EXPECT_FALSE(schedule.next().has_value());
  schedule.order_done({.order = 1, .kind = "train", .step = 2});
  EXPECT_EQ(text_of(*schedule.next()), "train e0 b4 n2");
  schedule.order_done({.order = 2, .kind = "train", .step = 4});
  EXPECT_THAT(
      [&] { schedule.order_done({.order = 2, .kind = "train", .step = 3}); },
      ThrowsMessage<Error>(HasSubstr("ranks disagree about order 2 (train): one is at step 4, another at step 3")));
}

TEST_F(SeveralRanksTest, AnEvaluationIsThatOfAllSamples) {
  RunSchedule schedule(resolved({.max_epochs = 9, .early_stopping_patience = 5}), of(3), {});
  const auto answer = [&](std::uint32_t rank, std::uint64_t order, std::uint64_t samples, std::vector<Scalar> metrics) {
    schedule.order_done({.order = order,
                         .rank = rank,
                         .step = 10,
                         .samples = samples,
                         .metrics = std::move(metrics),
                         .reductions = {{"n", "sum"}}});
  };
  ASSERT_TRUE(schedule.next() && schedule.next());
  for (std::uint32_t rank = 0; rank < 3; ++rank) answer(rank, 1, 80, {});
  answer(2, 2, 0, {});  // A rank that had no samples.
  answer(1, 2, 2, {{"loss", 5}, {"n", 1}});
  answer(0, 2, 6, {{"loss", 1}, {"n", 4}});
  const std::optional<Order> checkpoint = schedule.next();
  ASSERT_EQ(text_of(*checkpoint), "checkpoint best");
  ASSERT_EQ(checkpoint->metrics.size(), 2u);
  EXPECT_EQ(checkpoint->metrics[0].name, "loss");
  EXPECT_EQ(checkpoint->metrics[0].value, 2);
  EXPECT_EQ(checkpoint->metrics[1].value, 5);
}

TEST_F(SeveralRanksTest, AStopWaitsForWhatIsOrdered) {
  RunSchedule schedule(resolved({.max_steps = 6, .steps_per_order = 6}), of(2), {});
  ASSERT_TRUE(schedule.next());
  schedule.stop("enough");
  EXPECT_FALSE(schedule.next().has_value()) << "a rank that stops alone would leave the other waiting";
  for (int rank = 0; rank < 2; ++rank) schedule.order_done({.order = 1, .kind = "train", .step = 6});
  EXPECT_EQ(text_of(*schedule.next()), "stop enough");
  for (int rank = 0; rank < 2; ++rank) schedule.order_done({.order = 2, .kind = "stop", .step = 6, .stopped = true});
  EXPECT_EQ(text_of(*schedule.next()), "checkpoint interrupted");
}

}  // namespace
}  // namespace trainyard::manager
