// SPDX-License-Identifier: Apache-2.0
#include "strategies/fsdp/fsdp.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard::fsdp {
namespace {

using ::testing::ElementsAre;

MATCHER_P3(IsRun, offset, bytes, place, "") {
  return arg.offset == static_cast<std::uint64_t>(offset) && arg.bytes == static_cast<std::uint64_t>(bytes) &&
         arg.place == static_cast<std::uint64_t>(place);
}
MATCHER_P2(IsMember, parameter, place, "") {
  return arg.parameter == static_cast<std::size_t>(parameter) && arg.place == static_cast<std::uint64_t>(place);
}

NamedTensor parameter(const std::string& name, std::int64_t size) {
  return {name, at::full({size}, static_cast<double>(size)).set_requires_grad(true)};
}

Stage stage(std::vector<NamedTensor> parameters) {
  return {.name = "", .parameters = std::move(parameters), .buffers = {}, .forward = {}};
}

/// Two stages that share a parameter. The parameters of the first stage are not contiguous.
struct Tied {
  std::vector<NamedTensor> all{parameter("a", 16), parameter("tied", 20), parameter("b", 4), parameter("c", 16)};
  std::vector<Stage> stages{stage({all[0], all[1], all[2]}), stage({all[3], all[1]})};
};

TEST(ParameterGroupTest, AStageHasWhatItAloneUsesAndTheLastGroupTheRest) {
  Tied tied;
  const auto groups = group_parameters(tied.stages, ArenaLayout::of(tied.all, {}));
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_THAT(groups[0].runs, ElementsAre(IsRun(0, 64, 0), IsRun(64 + 128, 64, 64)));
  EXPECT_THAT(groups[0].members, ElementsAre(IsMember(0, 0), IsMember(2, 64)));
  EXPECT_THAT(groups[1].runs, ElementsAre(IsRun(64 + 128 + 64, 64, 0)));
  EXPECT_THAT(groups[2].runs, ElementsAre(IsRun(64, 128, 0))) << "with its padding";
  EXPECT_EQ(groups[0].bytes, 128u);
}

TEST(ParameterGroupTest, NeighboursAreOneRun) {
  Tied tied;
  const auto groups = group_parameters({}, ArenaLayout::of(tied.all, {}));
  ASSERT_EQ(groups.size(), 1u) << "a model of one piece";
  EXPECT_THAT(groups[0].runs, ElementsAre(IsRun(0, 64 + 128 + 64 + 64, 0)));
  EXPECT_EQ(groups[0].members.size(), 4u);
}

/// Tests a rank whose part, the second of three, begins and ends in the middle of parameters.
TEST(ShardedGroupTest, TheRankPutsInItsPartAndTakesItsPartOut) {
  const std::vector<NamedTensor> all{parameter("a", 40), parameter("b", 24)};
  const ArenaLayout layout = ArenaLayout::of(all, {});
  const std::vector<std::uint64_t> parts{0, 64, 256, layout.parameter_bytes};
  ASSERT_EQ(layout.parameter_bytes, 192u + 128u);
  const auto zeroed = [](std::size_t bytes) {
    Buffer buffer = Buffer::heap(bytes);
    std::ranges::fill(buffer.bytes(), std::byte{0});
    return buffer;
  };
  Arena arena(all, {}, zeroed, {}, {.begin = 64, .end = 256, .gradients = true, .parameters = true, .in_place = false});
  RankGroup alone;  // There are no other ranks, so their parts stay unchanged.
  ShardedGroup group(group_parameters({}, layout)[0], arena, all, parts, alone);
  EXPECT_FALSE(group.is_gathered());
  group.gather(at::zeros({100}));
  group.wait();
  EXPECT_EQ(all[0].tensor.sum().item<double>(), 40.0 * 24) << "16 of 40 are the first rank's";
  EXPECT_EQ(all[1].tensor.sum().item<double>(), 24.0 * 16) << "8 of 24 are the last rank's";
  group.collect_gradients(at::ones({100}));
  (all[0].tensor.sum() + all[1].tensor.sum() * 2).backward();
  group.release();
  EXPECT_FALSE(group.is_gathered());
  group.reduce();
  group.add_reduced();
  group.add_reduced();
  EXPECT_FALSE(all[0].tensor.grad().defined());
  EXPECT_EQ(arena.own_gradients().sum().item<double>(), 24 + 2 * 16) << "what is done already is not done again";
}

}  // namespace
}  // namespace trainyard::fsdp
