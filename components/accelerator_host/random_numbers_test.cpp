// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/random_numbers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "components/accelerator_host/copying_device.h"
#include "core/testing/error_of.h"

namespace trainyard {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

class RandomNumbersTest : public ::testing::Test {
 protected:
  /// Draws random numbers in the same way as a forward pass.
  static at::Tensor draw(RandomNumbers& numbers) {
    const RankGenerator::Turn turn(numbers.generator());
    return at::rand({8});
  }

  std::vector<SavedState> saved(const RandomNumbers& numbers, std::uint32_t rank) const {
    StateWriter writer(RandomNumbers::kState, rank);
    numbers.save_state(writer);
    return writer.take();
  }
  static void restore(RandomNumbers& numbers, const std::vector<SavedState>& states, std::uint32_t rank) {
    numbers.restore_state(StateReader({.path = "checkpoint", .states = states}, RandomNumbers::kState, rank));
  }

  /// Returns the random numbers that a rank with a process of its own draws while it builds its model and in its first
  /// two passes.
  std::vector<at::Tensor> alone(std::uint64_t seed, std::uint32_t rank) {
    RandomNumbers numbers(*device_, seed, rank);
    std::vector<at::Tensor> drawn(1);
    numbers.draw_initial([&] { drawn[0] = at::rand({8}); });
    for (int pass = 0; pass < 2; ++pass) drawn.push_back(draw(numbers));
    return drawn;
  }

  testing::CopyingAccelerator accelerator_;
  std::unique_ptr<ClaimedDevice> device_ = accelerator_.claim(0);
};

TEST_F(RandomNumbersTest, RanksDrawTheSameParametersAndOtherNumbersFromThenOn) {
  device_->seed(7);
  const at::Tensor initial = at::rand({8});
  const std::vector<at::Tensor> first = alone(7, 0), again = alone(7, 0), second = alone(7, 1);
  EXPECT_TRUE(first[0].equal(initial)) << "the seed of the run decides";
  EXPECT_TRUE(second[0].equal(initial));
  EXPECT_FALSE(alone(8, 0)[0].equal(initial));
  for (int pass = 1; pass <= 2; ++pass) {
    EXPECT_TRUE(first[pass].equal(again[pass]));
    EXPECT_FALSE(first[pass].equal(second[pass]));
  }
}

TEST_F(RandomNumbersTest, ASequenceDoesNotDependOnHowMuchTheModelDrew) {
  const at::Tensor expected = alone(7, 2)[1];
  for (const std::int64_t count : {0, 1, 1000}) {
    RandomNumbers numbers(*device_, 7, 2);
    numbers.draw_initial([&] { at::rand({count}); });
    EXPECT_TRUE(draw(numbers).equal(expected)) << count;
  }
}

TEST_F(RandomNumbersTest, NoTwoRanksOfNeighbouringSeedsBeginAlike) {
  std::set<std::vector<float>> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::uint32_t rank = 0; rank < 32; ++rank) {
      const at::Tensor drawn = alone(seed, rank)[1];
      const auto* values = drawn.data_ptr<float>();
      seen.insert({values, values + drawn.numel()});
    }
  }
  EXPECT_EQ(seen.size(), 8u * 32u);
}

TEST_F(RandomNumbersTest, ThreadsOfOneProcessDrawAndSaveAsIfEachWereAlone) {
  const std::vector<at::Tensor> expected[] = {alone(7, 0), alone(7, 1)};
  RandomNumbers ranks[] = {{*device_, 7, 0}, {*device_, 7, 1}};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    at::Tensor initial;
    ranks[rank].draw_initial([&] { initial = at::rand({8}); });
    EXPECT_TRUE(initial.equal(expected[rank][0])) << rank;
  }
  for (std::size_t rank = 0; rank < 2; ++rank) EXPECT_TRUE(draw(ranks[rank]).equal(expected[rank][1])) << rank;
  // Rank 1 has drawn last. Each rank must nevertheless save its own state.
  const std::vector<SavedState> states[] = {saved(ranks[0], 0), saved(ranks[1], 1)};
  for (int i = 0; i < 3; ++i) draw(ranks[1]);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(states[rank].size(), 1u);
    EXPECT_TRUE(states[rank][0].per_rank);
    restore(ranks[rank], states[rank], rank);
    EXPECT_TRUE(draw(ranks[rank]).equal(expected[rank][2])) << rank;
  }
}

TEST_F(RandomNumbersTest, ARestoredRankContinuesWhereTheStateWasSavedWhateverItsSeed) {
  const at::Tensor expected = alone(7, 3)[2];
  std::vector<SavedState> states;
  {
    RandomNumbers numbers(*device_, 7, 3);
    numbers.draw_initial([] {});
    draw(numbers);
    states = saved(numbers, 3);
  }
  RandomNumbers numbers(*device_, 99, 3);
  numbers.draw_initial([] { at::rand({5}); });
  restore(numbers, states, 3);
  EXPECT_TRUE(draw(numbers).equal(expected));
}

TEST_F(RandomNumbersTest, ARankWithoutAStateBeginsASequenceOfItsOwnForTheStep) {
  const auto anew = [&](std::uint64_t seed, std::uint32_t rank, std::uint64_t step) {
    RandomNumbers numbers(*device_, seed, rank);
    numbers.draw_initial([] {});
    numbers.begin_anew(step);
    return draw(numbers);
  };
  const at::Tensor first = anew(7, 4, 100);
  EXPECT_TRUE(anew(7, 4, 100).equal(first)) << "a run can be repeated";
  EXPECT_FALSE(anew(7, 5, 100).equal(first));
  EXPECT_FALSE(anew(7, 4, 101).equal(first));
  EXPECT_FALSE(alone(7, 4)[1].equal(first)) << "it would repeat what it drew from the first step on";
}

/// A checkpoint is a file, whose content can be invalid.
TEST_F(RandomNumbersTest, AStateThatIsNotThatOfAGeneratorIsRefusedAndChangesNothing) {
  const at::Tensor expected = alone(7, 0)[1];
  RandomNumbers numbers(*device_, 7, 0);
  numbers.draw_initial([] {});
  const std::vector<SavedState> good = saved(numbers, 0);
  const auto refusal = [&](auto change) {
    std::vector<SavedState> states = good;
    change(states[0]);
    return error_of([&] { restore(numbers, states, 0); });
  };
  const std::int64_t size = good[0].tensors[0].data.elements();

  const auto [missing, no_tensor] = refusal([](SavedState& state) { state.tensors.clear(); });
  EXPECT_EQ(missing, Code::kCorrupt);
  EXPECT_EQ(no_tensor, "checkpoint: the state of 'random_numbers' has no tensor 'generator'");

  const auto [cut, length] =
      refusal([](SavedState& state) { state.tensors[0].data = Tensor::empty(DType::kUInt8, {3}); });
  EXPECT_EQ(cut, Code::kCorrupt);
  EXPECT_THAT(length,
              HasSubstr("a random generator state of 3 bytes was given, " + std::to_string(size) + " are wanted"));

  // A tensor of another type, with more bytes than the generator would read.
  const auto [numbers_of, type] =
      refusal([&](SavedState& state) { state.tensors[0].data = Tensor::empty(DType::kFloat64, {size}); });
  EXPECT_EQ(numbers_of, Code::kShapeMismatch);
  EXPECT_THAT(type, HasSubstr("tensor 'generator' is float64 of shape [" + std::to_string(size) + "]"));

  const auto [damaged, content] = refusal([&](SavedState& state) {
    state.tensors[0].data = Tensor::empty(DType::kUInt8, {size});
    std::ranges::fill(state.tensors[0].data.as<std::uint8_t>(), std::uint8_t{0});
  });
  EXPECT_EQ(damaged, Code::kCorrupt);
  EXPECT_THAT(content, HasSubstr("accelerator 'copying': a random generator state is damaged"));

  EXPECT_TRUE(draw(numbers).equal(expected)) << "the rank draws on as if nobody had asked";
}

TEST_F(RandomNumbersTest, AModelThatCannotBeBuiltHoldsUpNoOtherRank) {
  RandomNumbers failing(*device_, 7, 0), other(*device_, 7, 1);
  EXPECT_THROW(failing.draw_initial([] { throw std::runtime_error("no model"); }), std::runtime_error);
  bool built = false;
  other.draw_initial([&] { built = true; });
  EXPECT_TRUE(built);
}

}  // namespace
}  // namespace trainyard
