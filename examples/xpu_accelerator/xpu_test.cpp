// SPDX-License-Identifier: Apache-2.0
// Tests the device without a launch: that tensors are in the memory of the device, and that their values are right.
#include "xpu.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backend.h"
#include "device_memory.h"
#include "messages/error.h"
#include "tensors/arena.h"
#include "tensors/norm.h"

namespace xpu {
namespace {

const at::Device kXpu(at::kPrivateUse1, 0);
const at::Device kSecond(at::kPrivateUse1, 1);

trainyard::Buffer zeroed(std::size_t bytes) {
  trainyard::Buffer buffer = trainyard::Buffer::heap(bytes);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

/// A small convolutional network, like the one that the launch file mnist.toml trains.
struct Net {
  at::Tensor filter = at::rand({4, 1, 3, 3}).sub_(0.5).set_requires_grad(true);
  at::Tensor bias = at::rand({4}).set_requires_grad(true);
  at::Tensor weight = at::rand({3, 4 * 4 * 4}).sub_(0.5).set_requires_grad(true);

  std::vector<trainyard::NamedTensor> parameters() const {
    return {{"filter", filter}, {"bias", bias}, {"weight", weight}};
  }
  at::Tensor loss(const at::Tensor& image, const at::Tensor& target) const {
    const at::Tensor pooled = at::relu(at::max_pool2d(at::conv2d(image, filter, bias, 1, 1), 2));
    return at::cross_entropy_loss(at::linear(pooled.flatten(1), weight), target);
  }
};

TEST(XpuTest, ATensorsAddressMeansNothingToTheProcessor) {
  const at::Tensor tensor = at::rand({8}).to(kXpu);
  EXPECT_EQ(tensor.device(), kXpu);
  EXPECT_TRUE(memory_of(0).contains(tensor.data_ptr()));
  EXPECT_DEATH({ *static_cast<volatile float*>(tensor.data_ptr()) = 1; }, "");
}

TEST(XpuTest, CopiesKeepValuesThroughChangesOfTypeAndLayout) {
  const at::Tensor host = at::rand({3, 5});
  EXPECT_TRUE(host.to(kXpu).to(at::kCPU).equal(host));
  EXPECT_TRUE(host.to(kXpu).t().to(at::kDouble).to(at::kCPU).equal(host.t().to(at::kDouble)));
  EXPECT_TRUE(host.t().to(kXpu).to(kSecond).contiguous().to(at::kCPU).equal(host.t()));
  EXPECT_EQ(host.to(kXpu)[1][2].item<float>(), host[1][2].item<float>());
}

TEST(XpuTest, WhatIsFreedIsTakenAgain) {
  const DeviceMemory::Use before = memory_of(0).use();
  for (int i = 0; i < 100; ++i) at::rand({1000}).to(kXpu);
  EXPECT_EQ(memory_of(0).use().bytes, before.bytes);
  EXPECT_GE(memory_of(0).use().allocations, before.allocations + 100);
}

TEST(XpuTest, MoreThanThereIsIsRefused) { EXPECT_THROW(memory_of(0).take(DeviceMemory::kBytes + 1), trainyard::Error); }

/// Computes the same network twice, with tensors in host memory and with tensors on the device, and compares the
/// gradients.
TEST(XpuTest, ANetworkTrainsOnTheDeviceWithTheGradientsOfTheProcessor) {
  const Net net;
  const at::Tensor image = at::rand({6, 1, 8, 8});
  const at::Tensor target = at::randint(3, {6}, at::kLong);
  net.loss(image, target).backward();
  std::vector<at::Tensor> expected;
  for (const auto& [name, tensor] : net.parameters()) expected.push_back(tensor.grad().clone());
  const at::Tensor loss = net.loss(image, target).detach();

  const trainyard::Arena arena(net.parameters(), {}, &zeroed, {.device = kXpu, .copy = {}});
  const std::uint64_t kernels = counters().kernels;
  const at::Tensor there = net.loss(image.to(kXpu), target.to(kXpu));
  there.backward();
  EXPECT_EQ(there.device(), kXpu);
  EXPECT_GT(counters().kernels, kernels + 10);
  EXPECT_NEAR(there.item<float>(), loss.item<float>(), 1e-6);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto [name, tensor] = net.parameters()[i];
    EXPECT_EQ(tensor.device(), kXpu) << name;
    EXPECT_EQ(tensor.grad().device(), kXpu) << name;
    EXPECT_TRUE(memory_of(0).contains(tensor.data_ptr()) && memory_of(0).contains(tensor.grad().data_ptr())) << name;
    EXPECT_TRUE(tensor.grad().to(at::kCPU).allclose(expected[i], 1e-5, 1e-7)) << name;
  }
  EXPECT_GT(trainyard::l2_norm(arena.gradients()), 0);
}

TEST(XpuTest, TheSecondDeviceHasMemoryOfItsOwn) {
  const at::Tensor first = at::rand({4}).to(kXpu);
  const at::Tensor second = (first.to(kSecond) + 1) * 2;
  EXPECT_EQ(second.device(), kSecond);
  EXPECT_TRUE(memory_of(1).contains(second.data_ptr()));
  EXPECT_TRUE(second.to(at::kCPU).equal((first.to(at::kCPU) + 1) * 2));
}

}  // namespace
}  // namespace xpu
