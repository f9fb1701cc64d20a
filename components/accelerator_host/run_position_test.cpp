// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/run_position.h"

#include <gtest/gtest.h>

namespace trainyard::host {
namespace {

TEST(RunPositionTest, ARunBeginsWhereItsStateSays) {
  const RunState state{.step = 40, .epoch = 2, .samples = 1000, .cursor = {2, 70}, .skipped_steps = 3};
  const RunPosition position = position_of(state, 0);
  EXPECT_EQ(position.step, 40u);
  EXPECT_EQ(position.all_steps, 43u);
  EXPECT_EQ(position.epoch, 2u);
  EXPECT_EQ(position.samples, 1000u);
  EXPECT_EQ(position.cursor.epoch, 2u);
  EXPECT_EQ(position.cursor.samples, 70u);
  EXPECT_EQ(position_of(state, 1).samples, 0u) << "those of all ranks are counted once";
}

}  // namespace
}  // namespace trainyard::host
