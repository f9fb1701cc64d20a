// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/state_copies.h"

#include <gtest/gtest.h>

#include "components/checkpoint_writer/test_files.h"

namespace trainyard {
namespace {

class StateCopiesTest : public ::testing::Test {
 protected:
  OptimizerState state_ = testing::small_state();
  StateLayout layout_ = make_state_layout(testing::small_arena(), &state_);
  StateCopies copies_;
};

TEST_F(StateCopiesTest, NothingBeginsWithoutASnapshot) {
  EXPECT_FALSE(copies_.can_begin());
  EXPECT_TRUE(copies_.all_free());
}

TEST_F(StateCopiesTest, OneCopyIsOpenAtATime) {
  for (const std::uint64_t step : {1, 2}) copies_.add(testing::snapshot_at(step));
  EXPECT_TRUE(copies_.can_begin());
  EXPECT_EQ(copies_.begin(layout_).snapshot().step, 1u);
  EXPECT_FALSE(copies_.can_begin()) << "the state of components may be missing";
  const auto first = copies_.finish();
  EXPECT_EQ(first->snapshot().step, 1u);
  EXPECT_TRUE(copies_.can_begin());
  EXPECT_EQ(copies_.begin(layout_).snapshot().step, 2u);
}

TEST_F(StateCopiesTest, AThirdSnapshotWaitsUntilACopyIsGivenBack) {
  for (const std::uint64_t step : {1, 2, 3}) copies_.add(testing::snapshot_at(step));
  copies_.begin(layout_);
  auto first = copies_.finish();
  copies_.begin(layout_);
  auto second = copies_.finish();
  EXPECT_FALSE(copies_.can_begin());
  copies_.give_back(std::move(first));
  EXPECT_TRUE(copies_.can_begin());
  EXPECT_EQ(copies_.begin(layout_).snapshot().step, 3u);
  EXPECT_FALSE(copies_.all_free());
  copies_.give_back(copies_.finish());
  copies_.give_back(std::move(second));
  EXPECT_TRUE(copies_.all_free());
}

TEST_F(StateCopiesTest, AFreeCopyHoldsNoStateOfComponents) {
  for (const std::uint64_t step : {1, 2}) copies_.add(testing::snapshot_at(step));
  copies_.begin(layout_);
  auto copy = copies_.finish();
  const StateCopy* same = copy.get();
  EXPECT_FALSE(copy->snapshot().states.empty());
  copies_.give_back(std::move(copy));
  EXPECT_TRUE(same->snapshot().states.empty());
}

}  // namespace
}  // namespace trainyard
