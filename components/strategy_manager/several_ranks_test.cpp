// SPDX-License-Identifier: Apache-2.0
// Tests how a RunAgenda handles the answers of several ranks.
#include "components/strategy_manager/ranks_fixture.h"

namespace trainyard::manager {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class SeveralRanksTest : public RanksFixture {};

TEST_F(SeveralRanksTest, EveryoneMustAnswer) {
  RunAgenda agenda(resolved({.max_steps = 6, .steps_per_order = 2}), of(2), {});
  ASSERT_TRUE(agenda.next() && agenda.next() && !agenda.next());
  agenda.order_done({.order = 1, .kind = OrderKind::kTrain, .step = 2, .all_steps = 2});
  EXPECT_FALSE(agenda.next().has_value());
  agenda.order_done({.order = 1, .kind = OrderKind::kTrain, .step = 1, .all_steps = 2});  // It has skipped a step.
  EXPECT_EQ(text_of(*agenda.next()), "train e0 b4 n2");
  agenda.order_done({.order = 2, .kind = OrderKind::kTrain, .step = 4, .all_steps = 4});
  EXPECT_THAT(
      [&] { agenda.order_done({.order = 2, .kind = OrderKind::kTrain, .step = 2, .all_steps = 3}); },
      ThrowsMessage<Error>(HasSubstr(
          "ranks disagree about order 2 (train): one has made or skipped 4 steps, another 3 (it is at step 2)")));
}

TEST_F(SeveralRanksTest, AnEvaluationIsThatOfAllSamples) {
  RunAgenda agenda(resolved({.max_epochs = 9, .early_stopping_patience = 5}), of(3), {});
  const auto answer = [&](std::uint32_t rank, std::uint64_t order, std::uint64_t samples, std::vector<Scalar> metrics) {
    agenda.order_done({.order = order,
                       .rank = rank,
                       .step = 10,
                       .samples = samples,
                       .metrics = std::move(metrics),
                       .reductions = {{"n", Reduction::kSum}}});
  };
  ASSERT_TRUE(agenda.next() && agenda.next());
  for (std::uint32_t rank = 0; rank < 3; ++rank) answer(rank, 1, 80, {});
  answer(2, 2, 0, {});  // This rank had no samples.
  answer(1, 2, 2, {{"loss", 5}, {"n", 1}});
  answer(0, 2, 6, {{"loss", 1}, {"n", 4}});
  const std::optional<Order> checkpoint = agenda.next();
  ASSERT_EQ(text_of(*checkpoint), "checkpoint best");
  ASSERT_EQ(checkpoint->metrics.size(), 2u);
  EXPECT_EQ(checkpoint->metrics[0].name, "loss");
  EXPECT_EQ(checkpoint->metrics[0].value, 2);
  EXPECT_EQ(checkpoint->metrics[1].value, 5);
}

}  // namespace
}  // namespace trainyard::manager
