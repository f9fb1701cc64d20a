// SPDX-License-Identifier: Apache-2.0
#include "tensors/mirrored_block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cstring>

#include "messages/error.h"
#include "tensors/arena.h"
#include "tensors/replace_data.h"

namespace trainyard {
namespace {

Buffer zeroed(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

/// Treats the CPU as a device with separate memory. Apart from the addresses, everything is as with a real device.
const DeviceMemory kOwn{.device = at::Device(at::kCPU), .copy = {}, .link = {}};

float* host_values(const ArenaInfo& info, std::size_t block) { return info.blocks[block].data.as<float>().data(); }

TEST(MirroredBlockTest, WithoutMemoryOfItsOwnBothSidesAreTheSameBytes) {
  const Buffer host = zeroed(64);
  const MirroredBlock block(host, DType::kFloat32, {}, "values");
  EXPECT_EQ(block.flat().data_ptr(), host.data());
  EXPECT_FALSE(block.to_host(devices::Purpose::kReaders));
  EXPECT_FALSE(block.to_device(devices::Purpose::kReaders));
}

TEST(MirroredBlockTest, WithItsOwnMemoryNothingIsSeenBeforeItIsCopied) {
  const Buffer host = zeroed(64);
  const MirroredBlock block(host, DType::kFloat32, kOwn, "values");
  auto* values = reinterpret_cast<float*>(host.data());
  EXPECT_NE(block.flat().data_ptr(), static_cast<void*>(values));
  block.flat().narrow(0, 3, 1).fill_(5);
  EXPECT_EQ(values[3], 0);
  EXPECT_TRUE(block.to_host(devices::Purpose::kReaders));
  EXPECT_EQ(values[3], 5);
  values[4] = 7;
  EXPECT_TRUE(block.to_device(devices::Purpose::kReaders));
  EXPECT_EQ(block.flat()[4].item<float>(), 7);
}

TEST(MirroredBlockTest, EntriesOfAnotherTypeAreViewsOfTheSameMemory) {
  const MirroredBlock block(zeroed(128), DType::kUInt8, kOwn, "values");
  const ArenaEntry count{.name = "count",
                         .block = "buffers",
                         .dtype = static_cast<std::uint8_t>(DType::kInt64),
                         .shape = {},
                         .offset_bytes = 64};
  block.entry(count).fill_(300);
  EXPECT_EQ(block.flat()[64].item<int>(), 300 % 256);
  EXPECT_EQ(block.flat()[65].item<int>(), 1);
  EXPECT_EQ(block.entry(count).dim(), 0);
}

TEST(MirroredBlockTest, TheAcceleratorsOwnCopyIsUsedForWholeBlocks) {
  int copies = 0;
  const DeviceMemory own{.device = at::Device(at::kCPU), .copy = [&copies](at::Tensor to, const at::Tensor& from) {
                           EXPECT_EQ(from.numel(), 16);
                           to.copy_(from);
                           ++copies;
                         }};
  const MirroredBlock block(zeroed(64), DType::kFloat32, own, "values");
  block.to_host(devices::Purpose::kReaders);
  block.to_device(devices::Purpose::kReaders);
  EXPECT_EQ(copies, 2);
}

/// An arena with a weight and a buffer, on a device with separate memory.
class OwnMemoryArenaTest : public testing::Test {
 protected:
  at::Tensor weight_ = at::ones({4}).set_requires_grad(true);
  at::Tensor mean_ = at::ones({3});
  Arena arena_{{{"weight", weight_}}, {{"mean", mean_}}, &zeroed, kOwn};
  ArenaInfo info_ = arena_.info(0, "cpu", "");
};

TEST_F(OwnMemoryArenaTest, AnnouncesTheInitialValuesInHostMemory) {
  EXPECT_EQ(host_values(info_, 0)[3], 1);
  EXPECT_EQ(reinterpret_cast<float*>(info_.blocks[2].data.data())[2], 1);
  EXPECT_NE(static_cast<void*>(host_values(info_, 0)), weight_.data_ptr());
}

TEST_F(OwnMemoryArenaTest, GradientsArePublishedOnceAndZeroedOnTheDevice) {
  (weight_ * 3).sum().backward();
  (weight_ * 2).sum().backward();
  EXPECT_EQ(host_values(info_, 1)[0], 0) << "accumulated on the device";
  arena_.publish_gradients();
  EXPECT_EQ(host_values(info_, 1)[0], 5);
  EXPECT_EQ(arena_.gradients().abs().sum().item<float>(), 0);
  (weight_ * 4).sum().backward();
  arena_.publish_gradients();
  EXPECT_EQ(host_values(info_, 1)[0], 4) << "not added to those of the step before";
}

TEST_F(OwnMemoryArenaTest, TheOptimizersParametersReachTheModel) {
  host_values(info_, 0)[2] = 9;
  EXPECT_EQ(weight_[2].item<float>(), 1);
  ArenaEdit(arena_).fetch_parameters();
  EXPECT_EQ(weight_[2].item<float>(), 9);
}

TEST_F(OwnMemoryArenaTest, AnEditIsVisibleToTheOptimizerWhenItEnds) {
  int told = 0;
  arena_.on_change([&told] { ++told; });
  {
    ArenaEdit edit(arena_);
    edit.parameters().fill_(7);
    EXPECT_EQ(host_values(info_, 0)[1], 1);
    EXPECT_EQ(told, 0);
  }
  EXPECT_EQ(host_values(info_, 0)[1], 7);
  EXPECT_EQ(told, 1);
}

TEST_F(OwnMemoryArenaTest, AnEditThatChangedNothingLeavesTheOptimizersValuesAlone) {
  host_values(info_, 0)[1] = 5;
  arena_.on_change([] { FAIL() << "nothing changed"; });
  { const ArenaEdit edit(arena_); }
  EXPECT_EQ(host_values(info_, 0)[1], 5);
}

TEST_F(OwnMemoryArenaTest, AnEditThatAnExceptionPassesThroughIsNotPublished) {
  try {
    ArenaEdit edit(arena_);
    edit.parameters().fill_(7);
    throw std::runtime_error("a rank is gone");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(host_values(info_, 0)[1], 1);
}

TEST_F(OwnMemoryArenaTest, ARestoredCheckpointReachesParametersAndBuffersAndBuffersReachTheNextOne) {
  host_values(info_, 0)[0] = 2;
  auto* mean = reinterpret_cast<float*>(info_.blocks[2].data.data());
  mean[1] = 8;
  ArenaEdit(arena_).fetch_all();
  EXPECT_EQ(weight_[0].item<float>(), 2);
  EXPECT_EQ(mean_[1].item<float>(), 8);
  mean_.add_(1);
  EXPECT_EQ(mean[1], 8);
  arena_.publish_to_readers();
  EXPECT_EQ(mean[1], 9);
}

TEST(ReplaceDataTest, TheTensorStaysTheSameObjectAndTakesOverDeviceAndMemory) {
  const at::Tensor tensor = at::ones({2}).set_requires_grad(true);
  const at::Tensor same = tensor;
  const at::Tensor data = at::ones({3}, at::kFloat);
  replace_data(tensor, data);
  EXPECT_EQ(same.data_ptr(), data.data_ptr());
  EXPECT_EQ(same.numel(), 3);
  EXPECT_TRUE(same.requires_grad());
}

/// Uses the meta device, because LibTorch's set_data refuses a change to it in the same way as to devices of other
/// vendors.
TEST(ReplaceDataTest, WorksBetweenDevicesThatLibTorchDoesNotList) {
  const at::Tensor tensor = at::ones({2}).set_requires_grad(true);
  replace_data(tensor, at::ones({5}, at::TensorOptions().device(at::kMeta)));
  EXPECT_TRUE(tensor.is_meta());
  EXPECT_EQ(tensor.numel(), 5);
  EXPECT_TRUE(tensor.requires_grad());
}

}  // namespace
}  // namespace trainyard
