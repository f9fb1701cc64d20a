// SPDX-License-Identifier: Apache-2.0
#include "strategies/single_device/single_device.h"

#include <gtest/gtest.h>

#include "core/testing/error_of.h"

namespace trainyard {
namespace {

TEST(SingleDeviceTest, RefusesSeveralRanksAndNamesWhatServesThem) {
  StrategyContext context;
  context.where = "strategy 'single_device'";
  context.parameters = "{}";
  const SingleDevice strategy(context);
  strategy.check_world_size(1);
  const auto [code, text] = testing::error_of([&] { strategy.check_world_size(4); });
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_EQ(text, "strategy 'single_device': it serves 1 rank, the run has 4; use strategy = 'ddp' for several");
  EXPECT_EQ(strategy.traits().max_ranks, 1u);
}

}  // namespace
}  // namespace trainyard
