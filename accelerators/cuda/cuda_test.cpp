// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/cuda.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "core/plugin/loader.h"

namespace trainyard {
namespace {

class CudaTest : public ::testing::Test {
 protected:
  /// Returns false on a machine without a GPU; the test then reports this and does not count as passed.
  bool claimed() {
    context_.where = "accelerator 'cuda'";
    context_.parameters = "{}";
    context_.log = std::make_shared<spdlog::logger>("test");
    context_.plugins = &loader_;
    cuda_ = std::make_unique<Cuda>(context_);
    if (!cuda_->is_available()) return false;
    gpu_ = cuda_->claim(0);
    return true;
  }

  core::PluginLoader loader_{core::PluginLoader::default_directories()};
  AcceleratorContext context_;
  std::unique_ptr<Cuda> cuda_;
  std::unique_ptr<ClaimedDevice> gpu_;
};

TEST_F(CudaTest, SaysTruthfullyWhetherThereIsADevice) {
  const bool there = claimed();
  EXPECT_EQ(cuda_->is_available(), there);
  EXPECT_EQ(cuda_->find_devices().problem.empty(), there);
}

TEST_F(CudaTest, BatchesArriveWholeAlthoughTheirSourceIsOverwrittenAtOnce) {
  if (!claimed()) GTEST_SKIP() << "skipped: no device";
  at::Tensor source = at::rand({1 << 20});
  const at::Tensor kept = source.clone();
  const at::Tensor moved = gpu_->to_device({source})[0];
  source.zero_();
  EXPECT_EQ(moved.device(), gpu_->torch_device());
  EXPECT_TRUE(moved.cpu().equal(kept));
}

TEST_F(CudaTest, TheStateContinuesTheNumbersOfBothGenerators) {
  if (!claimed()) GTEST_SKIP() << "skipped: no device";
  gpu_->seed(7);
  const std::vector<std::uint8_t> state = gpu_->rng_state();
  const at::Tensor on_gpu = at::rand({5}, gpu_->torch_device());
  const at::Tensor on_cpu = at::rand({5});
  gpu_->set_rng_state(state);
  EXPECT_TRUE(at::rand({5}, gpu_->torch_device()).equal(on_gpu));
  EXPECT_TRUE(at::rand({5}).equal(on_cpu));
}

TEST_F(CudaTest, StatsCountTheMemoryOfTensors) {
  if (!claimed()) GTEST_SKIP() << "skipped: no device";
  const double before = gpu_->stats().at("memory_bytes");
  const at::Tensor tensor = at::rand({1 << 20}, gpu_->torch_device());
  EXPECT_GE(gpu_->stats().at("memory_bytes") - before, 4e6);
}

TEST_F(CudaTest, TheDevicePluginWorksOnTheStreamAndTheMemoryOfLibTorch) {
  if (!claimed()) GTEST_SKIP() << "skipped: no device";
  EXPECT_EQ(gpu_->native() != nullptr, cuda_->traits().shares_memory_by == "cuda");
  if (gpu_->native() == nullptr) GTEST_SKIP() << "skipped: built without nvcc";
  const NativeDevice& native = *gpu_->native();
  constexpr std::int64_t kCount = 1 << 20;
  const double before = gpu_->stats().at("memory_bytes");
  const devices::Region block(native.device->allocate(kCount * sizeof(float), "parameters"));
  EXPECT_EQ(gpu_->stats().at("memory_bytes") - before, kCount * sizeof(float));
  const at::Tensor tensor =
      at::from_blob(block.address(), {kCount}, at::TensorOptions().device(gpu_->torch_device()).dtype(at::kFloat));
  EXPECT_EQ(tensor.sum().item<float>(), 0);
  tensor.uniform_();
  const Buffer copy = Buffer::heap(block.bytes());
  native.stream->to_host(devices::HostRegion(copy), block, devices::Purpose::kSnapshot);
  native.stream->zero(block);
  const at::Tensor zeros = tensor + 1;
  native.stream->drain(std::chrono::seconds(20));
  const at::Tensor copied = at::from_blob(copy.data(), {kCount}, at::kFloat);
  EXPECT_GT(copied.sum().item<float>(), kCount / 4);
  EXPECT_EQ(zeros.sum().item<float>(), kCount);
}

}  // namespace
}  // namespace trainyard
