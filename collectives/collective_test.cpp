// SPDX-License-Identifier: Apache-2.0
#include "collectives/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/testing/pretended.h"
#include "core/testing/error_of.h"

namespace trainyard {
namespace {

using collectives::Operation;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::Pair;
using testing::PretendedGroup;
using testing::PretendedOthers;

CollectiveContext context_of(std::vector<std::uint32_t> ranks) {
  CollectiveContext context;
  context.where = "the test";
  context.parameters = "{}";
  context.name = "world";
  context.ranks = std::move(ranks);
  return context;
}

class CollectiveInterfaceTest : public ::testing::Test {
 protected:
  CollectiveInterfaceTest() { group_.connect(); }

  PretendedOthers others_;
  CollectiveContext context_ = context_of({0, 5, 6});
  PretendedGroup group_{context_, others_};
  std::vector<float> data_ = std::vector<float>(7);
  Elements elements_{data_.data(), DType::kFloat32, 7};
};

TEST_F(CollectiveInterfaceTest, EveryOperationSaysWhosePartEachElementIs) {
  std::vector<std::vector<std::uint64_t>> bounds;
  others_.move = [&](const Operation& operation) { bounds.push_back(operation.bounds); };
  const std::vector<std::uint64_t> given{0, 0, 2, 7};
  group_.all_reduce(elements_, ReduceOp::kSum).wait();
  group_.broadcast(elements_, 1).wait();
  group_.all_gather(elements_, given).wait();
  group_.reduce_scatter(elements_, ReduceOp::kMax).wait();
  EXPECT_THAT(bounds, ElementsAre(ElementsAre(0, 3, 6, 7), ElementsAre(0, 0, 7, 7), ElementsAre(0, 0, 2, 7),
                                  ElementsAre(0, 3, 6, 7)));
}

// An operation may be in progress when its caller is destroyed.
TEST_F(CollectiveInterfaceTest, KeepsTheMemoryThatItHasAllocated) {
  others_.move = [](const Operation& operation) { static_cast<float*>(operation.data.data)[6] += 1; };
  std::byte* const memory = group_.allocate(7 * sizeof(float)).data();
  group_.all_reduce({memory, DType::kFloat32, 7}, ReduceOp::kSum).wait();
  EXPECT_EQ(reinterpret_cast<float*>(memory)[6], 1);
}

TEST_F(CollectiveInterfaceTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(error_of([&] { group_.broadcast(elements_, 3); }),
              Pair(Code::kInvalidArgument,
                   "the test: the root of a broadcast is member 3 of a group of 3; allowed are 0 to 2"));
  EXPECT_THAT(error_of([&] { group_.send(elements_, 0); }),
              Pair(Code::kInvalidArgument, "the test: rank 0 cannot send to itself"));
  const std::vector<std::uint64_t> bounds{0, 4, 3, 7};
  EXPECT_THAT(error_of([&] { group_.all_gather(elements_, bounds); }),
              Pair(Code::kInvalidArgument, "the test: 4 bounds from 0 to 7 do not cut 7 elements into 3 parts"));
  EXPECT_THAT(error_of([&] {
                group_.all_reduce({data_.data(), DType::kBool, 7}, ReduceOp::kMean);
              }),
              Pair(Code::kUnsupported, "the test: there is no mean of bool; allowed are sum, min, max and product"));
}

TEST_F(CollectiveInterfaceTest, RefusesAMemorySpaceThatTheBackendDoesNotServe) {
  elements_.space = {MemoryKind::kDevice, 1};
  EXPECT_THAT(error_of([&] { group_.reduce_scatter(elements_, ReduceOp::kSum); }),
              Pair(Code::kUnsupported,
                   "the test: reduce_scatter does not work on the memory of device 1; copy the elements, or choose "
                   "another collective"));
  elements_.space = {MemoryKind::kSharedHost};
  group_.reduce_scatter(elements_, ReduceOp::kSum).wait();
}

TEST_F(CollectiveInterfaceTest, AfterAbortEveryCallThrowsAndTheOthersKnowTheReason) {
  others_.come = false;
  Work work = group_.barrier();
  group_.abort("out of paper");
  EXPECT_TRUE(work.done());
  const auto given_up = Pair(Code::kPeerLost, "the test: rank 0 gave up group 'world': out of paper");
  EXPECT_THAT(error_of([&] { work.wait(); }), given_up);
  EXPECT_THAT(error_of([&] { group_.barrier(); }), given_up);
  EXPECT_THAT(error_of([&] { group_.progress(); }), given_up);
  ASSERT_EQ(others_.were_told.size(), 1u);
  EXPECT_EQ(others_.were_told[0].text, "rank 0 gave up group 'world': out of paper");
}

TEST(CollectiveTest, AGroupOfOneHasNothingToDo) {
  PretendedOthers nobody;
  CollectiveContext context = context_of({0});
  PretendedGroup group(context, nobody);
  group.connect();
  float value = 3;
  group.all_reduce({&value, DType::kFloat32, 1}, ReduceOp::kMean).wait();
  EXPECT_EQ(value, 3);
  EXPECT_EQ(group.all_gather_texts("alone").at(0), "alone");
  group.abort("nobody hears it");
  group.barrier().wait();
}

TEST(CollectiveTest, OperationsNeedAConnectedGroup) {
  PretendedOthers others;
  CollectiveContext context = context_of({0, 1});
  PretendedGroup group(context, others);
  EXPECT_THAT(error_of([&] { group.barrier(); }), Pair(Code::kInternal, "the test: operations need connect() first"));
}

}  // namespace
}  // namespace trainyard
