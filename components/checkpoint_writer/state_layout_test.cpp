// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/state_layout.h"

#include <gtest/gtest.h>

#include "components/checkpoint_writer/state_copy.h"
#include "components/checkpoint_writer/test_files.h"

namespace trainyard {
namespace {

using testing::error_of;

TEST(StateLayoutTest, TensorsHaveTheNamesOfTheirEntries) {
  const OptimizerState state = testing::small_state();
  const StateLayout layout = make_state_layout(testing::small_arena(), &state);
  ASSERT_EQ(layout.model.size(), 3u);
  EXPECT_EQ(layout.model[1].name, "bias");
  EXPECT_EQ(layout.model[1].offset, 64u);
  EXPECT_EQ(layout.model[1].bytes, 8u);
  ASSERT_EQ(layout.optimizer.size(), 3u);
  EXPECT_EQ(layout.optimizer[0].name, "exp_avg/weight");
  EXPECT_EQ(layout.optimizer[1].name, "exp_avg/bias");
  EXPECT_EQ(layout.optimizer[2].name, "counter");  // Does not have the layout of the parameters, so it is one tensor.
}

TEST(StateLayoutTest, StateOfAnotherDtypeIsCutElementForElement) {
  OptimizerState state{.blocks = {{"master", Tensor::empty(DType::kFloat64, {32})}}};
  const StateLayout layout = make_state_layout(testing::small_arena(), &state);
  EXPECT_EQ(layout.optimizer[1].name, "master/bias");
  EXPECT_EQ(layout.optimizer[1].offset, 128u);
  EXPECT_EQ(layout.optimizer[1].bytes, 16u);
}

TEST(StateLayoutTest, AnEntryThatDoesNotFitItsBlockIsRefused) {
  ArenaInfo arena = testing::small_arena();
  arena.entries[1].offset_bytes = 124;
  EXPECT_EQ(error_of([&] { make_state_layout(arena, nullptr); }),
            "tensor 'bias' of shape [2] at byte 124 does not fit a block of 128 bytes");
  arena.entries[1].offset_bytes = ~std::uint64_t{0};
  EXPECT_NE(error_of([&] { make_state_layout(arena, nullptr); }), "");
  arena.entries[1].block = "attic";
  EXPECT_EQ(error_of([&] { make_state_layout(arena, nullptr); }), "tensor 'bias' is in an unknown block 'attic'");
}

TEST(StateCopyTest, KeepsWhatWasThereWhenItWasTaken) {
  const ArenaInfo arena = testing::small_arena();
  const StateLayout layout = make_state_layout(arena, nullptr);
  StateCopy copy;
  copy.take(layout, testing::snapshot_at(1));
  const auto before = copy.tensors(layout.model)[0].data.data();
  arena.blocks[1].data.as<float>()[0] = -1;
  float first = 0;
  std::memcpy(&first, copy.tensors(layout.model)[0].data.data(), sizeof first);
  EXPECT_EQ(first, 1.0f);
  copy.take(layout, testing::snapshot_at(2));
  EXPECT_EQ(copy.tensors(layout.model)[0].data.data(), before) << "the memory is used again";
}

TEST(StateCopyTest, GradientsAreNotCopied) {
  const StateLayout layout = make_state_layout(testing::small_arena(), nullptr);
  EXPECT_EQ(layout.bytes(), 128u + 8u);
}

}  // namespace
}  // namespace trainyard
