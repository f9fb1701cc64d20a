// SPDX-License-Identifier: Apache-2.0
#include "strategies/rank_group.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/testing/pretended.h"
#include "core/testing/error_of.h"

namespace trainyard {
namespace {

using collectives::Operation;
using collectives::OperationKind;
using ::testing::ElementsAre;
using testing::PretendedGroup;
using testing::PretendedOthers;

/// Returns a group of two ranks: this rank, and a simulated one.
RankGroup group_of_two(PretendedOthers& others) {
  CollectiveContext context;
  context.where = "here";
  context.parameters = "{}";
  context.world_size = 2;
  context.ranks = {0, 1};
  auto collective = std::make_shared<PretendedGroup>(context, others);
  collective->connect();
  return RankGroup(std::move(collective));
}

TEST(RankGroupTest, ASingleRankLeavesEverythingAsItIs) {
  RankGroup alone;
  EXPECT_TRUE(alone.is_alone());
  EXPECT_EQ(alone.rank(), 0u);
  EXPECT_EQ(alone.size(), 1u);
  const at::Tensor values = at::ones({3});
  alone.all_reduce(values, ReduceOp::kSum).wait();
  alone.broadcast(values, 0).wait();
  const std::vector<std::uint64_t> bounds{0, 3};
  alone.reduce_scatter(values, ReduceOp::kSum, bounds).wait();
  alone.all_gather(values, bounds).wait();
  EXPECT_TRUE(values.equal(at::ones({3})));
  EXPECT_EQ(alone.sum(2.5), 2.5);
  EXPECT_TRUE(alone.any(true));
  EXPECT_FALSE(alone.any(false));
  EXPECT_THAT(alone.all_gather_texts("a"), ElementsAre("a"));
  EXPECT_EQ(alone.scratch(5, at::TensorOptions()).numel(), 5);
  alone.progress();
  alone.abort("nobody hears it");
}

TEST(RankGroupTest, OperationsWorkOnTheMemoryOfTheTensor) {
  const void* memory = nullptr;
  std::vector<OperationKind> kinds;
  PretendedOthers others{.move = [&](const Operation& operation) {
    memory = operation.data.data;
    kinds.push_back(operation.request.kind);
  }};
  RankGroup group = group_of_two(others);
  EXPECT_FALSE(group.is_alone());
  EXPECT_EQ(group.size(), 2u);
  const at::Tensor values = at::ones({4});
  group.all_reduce(values, ReduceOp::kSum).wait();
  EXPECT_EQ(memory, values.data_ptr());
  group.broadcast(values, 1).wait();
  const std::vector<std::uint64_t> bounds{0, 3, 4};
  group.reduce_scatter(values, ReduceOp::kSum, bounds).wait();
  group.all_gather(values, bounds).wait();
  EXPECT_THAT(kinds, ElementsAre(OperationKind::kAllReduce, OperationKind::kBroadcast, OperationKind::kReduceScatter,
                                 OperationKind::kAllGather));
}

TEST(RankGroupTest, ValuesOfAllRanksAreJoinedAndWaitedFor) {
  PretendedOthers others{.move = [&](const Operation& operation) {
    if (operation.data.dtype == DType::kFloat64) *static_cast<double*>(operation.data.data) += 40;
    if (operation.data.dtype == DType::kUInt8) *static_cast<std::uint8_t*>(operation.data.data) = 1;
  }};
  RankGroup group = group_of_two(others);
  EXPECT_EQ(group.sum(2), 42);
  EXPECT_TRUE(group.any(false));
}

TEST(RankGroupTest, ACopyIsTheSameGroup) {
  PretendedOthers others;
  RankGroup group = group_of_two(others);
  RankGroup copy = group;
  copy.abort("the copy gave up");
  EXPECT_EQ(testing::error_of([&] { group.sum(1); }).first, Code::kPeerLost);
}

}  // namespace
}  // namespace trainyard
