// SPDX-License-Identifier: Apache-2.0
#include "strategies/rank_group.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
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
template <class Group = PretendedGroup>
RankGroup group_of_two(PretendedOthers& others) {
  CollectiveContext context;
  context.where = "here";
  context.parameters = "{}";
  context.world_size = 2;
  context.ranks = {0, 1};
  auto collective = std::make_shared<Group>(context, others);
  collective->connect();
  return RankGroup(std::move(collective));
}

/// A collective that also accepts device memory.
class DeviceGroup final : public Collective {
 public:
  DeviceGroup(CollectiveContext& context, PretendedOthers& others) : Collective(context), others_(others) {}
  bool serves(OperationKind, MemorySpace) const override { return true; }

 private:
  collectives::Backend open() override { return testing::pretended_backend(others_); }

  PretendedOthers& others_;
};

int waits_for_a_stream = 0;

/// Two devices of a type that LibTorch reserves for others. They have no operations.
struct PretendedDevices final : c10::impl::DeviceGuardImplInterface {
  static c10::Device device(c10::DeviceIndex index) { return {c10::DeviceType::PrivateUse1, index}; }

  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }
  c10::Device exchangeDevice(c10::Device) const override { return device(0); }
  c10::Device getDevice() const override { return device(0); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device of) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, of); }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  void synchronizeStream(const c10::Stream&) const override { ++waits_for_a_stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 2; }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, PretendedDevices)

/// Returns a tensor of the second device, whose memory is that of `values`.
template <class T>
at::Tensor on_device(std::vector<T>& values) {
  c10::Storage storage(c10::Storage::use_byte_size_t(), values.size() * sizeof(T),
                       c10::DataPtr(values.data(), PretendedDevices::device(1)), nullptr, /*resizable=*/false);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), caffe2::TypeMeta::Make<T>());
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous({static_cast<std::int64_t>(values.size())});
  return tensor;
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

TEST(RankGroupTest, ACollectiveThatAcceptsDeviceMemoryWorksInItWhenTheStreamIsDone) {
  std::vector<float> values{1, 2, 3};
  std::vector<Elements> seen;
  std::vector<int> waits;
  PretendedOthers others{.move = [&](const Operation& operation) {
    seen.push_back(operation.data);
    waits.push_back(waits_for_a_stream);
    for (float& value : values) value += 1;
  }};
  RankGroup group = group_of_two<DeviceGroup>(others);
  const auto link = std::make_shared<devices::LinkBytes>();
  group.count_copies(link);
  const at::Tensor tensor = on_device(values);
  const std::vector<std::uint64_t> bounds{0, 1, 3};
  waits_for_a_stream = 0;
  group.all_reduce(tensor, ReduceOp::kSum).wait();
  group.broadcast(tensor, 1).wait();
  group.reduce_scatter(tensor, ReduceOp::kSum, bounds).wait();
  group.all_gather(tensor, bounds).wait();
  ASSERT_EQ(seen.size(), 4u);
  for (const Elements& elements : seen) {
    EXPECT_EQ(elements.data, values.data());
    EXPECT_EQ(elements.count, 3u);
    EXPECT_EQ(elements.space, (MemorySpace{MemoryKind::kDevice, 1}));
  }
  EXPECT_THAT(waits, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values, ElementsAre(5, 6, 7));
  EXPECT_EQ(link->all().both(), 0u);
}

TEST(RankGroupTest, IntegersAreNotReducedInDeviceMemory) {
  int operations = 0;
  PretendedOthers others{.move = [&](const Operation&) { ++operations; }};
  RankGroup group = group_of_two<DeviceGroup>(others);
  std::vector<std::int32_t> values{1, 2};
  const at::Tensor tensor = on_device(values);
  EXPECT_ANY_THROW(group.all_reduce(tensor, ReduceOp::kMean)) << "this device cannot copy anything to host memory";
  EXPECT_EQ(operations, 0);
  group.broadcast(tensor, 0).wait();
  EXPECT_EQ(operations, 1);
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

TEST(RankGroupTest, CountsWhatItMovesBetweenTheHostAndADevice) {
  const auto link = std::make_shared<devices::LinkBytes>();
  RankGroup group;
  group.count_copies(link);
  const at::Tensor here = at::ones({3});
  EXPECT_TRUE(group.moved_to(at::kCPU, here).is_same(here));
  EXPECT_EQ(link->all().both(), 0u);
  EXPECT_TRUE(group.moved_to(at::kMeta, here).is_meta());
  EXPECT_EQ(link->of(devices::Purpose::kCollectives), (devices::LinkCount{.to_device = 12, .to_host = 0}));
  const at::Tensor there = at::empty({2}, at::TensorOptions().device(at::kMeta).dtype(at::kDouble));
  group.copy(at::ones({2}), there);
  EXPECT_EQ(link->of(devices::Purpose::kCollectives),
            (devices::LinkCount{.to_device = 28, .to_host = 0}));  // As doubles.
  const at::Tensor other = at::empty({3});
  group.copy(here, other);
  EXPECT_TRUE(other.equal(here));
  EXPECT_EQ(link->all().both(), 28u);
}

}  // namespace
}  // namespace trainyard
