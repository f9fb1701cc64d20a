// SPDX-License-Identifier: Apache-2.0
#include "strategies/my_strategy/my_strategy.h"

#include <gtest/gtest.h>

#include "messages/error.h"

namespace example {
namespace {

trainyard::StrategyContext context_with(const std::string& parameters) {
  trainyard::StrategyContext context;
  context.where = "strategy 'my_strategy'";
  context.parameters = parameters;
  return context;
}

TEST(MyStrategyTest, NeedsSeveralRanks) {
  auto context = context_with("{}");
  const MyStrategy strategy(context);
  EXPECT_NO_THROW(strategy.check_world_size(2));
  EXPECT_THROW(strategy.check_world_size(1), trainyard::Error);
}

TEST(MyStrategyTest, RefusesAFactorThatWouldStopTraining) {
  auto context = context_with(R"({"factor": 0})");
  EXPECT_THROW(MyStrategy{context}, trainyard::Error);
}

}  // namespace
}  // namespace example
