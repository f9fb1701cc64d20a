// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/announced_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/checkpoint_writer/test_files.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::shared_ptr<const ArenaInfo> arena_of(std::uint32_t rank) {
  ArenaInfo arena = testing::small_arena();
  arena.rank = rank;
  return std::make_shared<const ArenaInfo>(std::move(arena));
}

std::shared_ptr<const OptimizerState> state_of(std::uint32_t rank) {
  OptimizerState state = testing::small_state();
  state.rank = rank;
  return std::make_shared<const OptimizerState>(std::move(state));
}

TEST(AnnouncedMemoryTest, TheLayoutCoversWhatEveryRankHasAnnounced) {
  AnnouncedMemory memory(2);
  for (const std::uint32_t rank : {1u, 0u}) {
    memory.add(arena_of(rank));
    memory.add(state_of(rank));
  }
  const StateLayout layout = memory.layout();
  EXPECT_EQ(layout.model.size(), 3u);
  EXPECT_FALSE(layout.optimizer.empty());
  ASSERT_FALSE(layout.blocks.empty());
  EXPECT_TRUE(layout.blocks.front().replicas.empty()) << "the strategy gives the parameters to the other ranks";
  EXPECT_EQ(memory.first().arena->rank, 0u);
  EXPECT_EQ(memory.first().optimizer->rule, "adamw");
}

TEST(AnnouncedMemoryTest, ARunWithoutAnOptimizerHasNoneInItsLayout) {
  AnnouncedMemory memory(1);
  memory.add(arena_of(0));
  EXPECT_EQ(memory.first().optimizer, nullptr);
  EXPECT_TRUE(memory.layout().optimizer.empty());
}

TEST(AnnouncedMemoryTest, ARankThatDoesNotExistIsRefused) {
  AnnouncedMemory memory(2);
  EXPECT_THAT([&] { memory.add(arena_of(2)); },
              ThrowsMessage<Error>(HasSubstr("the arena of rank 2 came in a run of 2 ranks")));
  EXPECT_THAT([&] { memory.add(state_of(7)); },
              ThrowsMessage<Error>(HasSubstr("the optimizer's state of rank 7 came in a run of 2 ranks")));
}

}  // namespace
}  // namespace trainyard
