// SPDX-License-Identifier: Apache-2.0
#include "collectives/nccl/nccl.h"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "collectives/nccl/device.h"
#include "collectives/testing/ranks.h"
#include "core/plugin/loader.h"

namespace trainyard::collectives {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Collective> world_of(core::PluginLoader& plugins, core::Rendezvous& notes, std::uint32_t rank,
                                     std::uint32_t size) {
  CollectiveContext context;
  context.where = "the test";
  context.plugins = &plugins;
  context.rendezvous = &notes;
  context.rank = rank;
  context.name = "world";
  context.ranks.resize(size);
  std::iota(context.ranks.begin(), context.ranks.end(), 0);
  return make_collective({"nccl"}, context);
}

/// Returns the number of GPUs. Asks CUDA in a forked process, so that this process does not initialise CUDA.
int devices() {
  const auto ends = testing::run_processes(1, [](std::uint32_t, core::Rendezvous&) {
    int count = 0;
    return std::to_string(cudaGetDeviceCount(&count) == cudaSuccess ? count : 0);
  });
  return ends[0].returned ? std::stoi(ends[0].text) : 0;
}

TEST(NcclTest, SaysThatThereIsNoDevice) {
  if (devices() > 0) GTEST_SKIP() << "there is one";
  const auto ends = testing::run_processes(2, [](std::uint32_t rank, core::Rendezvous& notes) {
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    world_of(plugins, notes, rank, 2);
    return "";
  });
  for (const auto& end : ends) {
    EXPECT_EQ(end.code, Code::kUnsupported);
    EXPECT_THAT(end.text, HasSubstr("there is no CUDA device"));
  }
}

TEST(NcclTest, RanksOnOneGpuAreRefused) {
  if (devices() == 0) GTEST_SKIP() << "skipped: no device";
  const auto ends = testing::run_processes(2, [](std::uint32_t rank, core::Rendezvous& notes) {
    cudaSetDevice(0);
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    world_of(plugins, notes, rank, 2);
    return "";
  });
  for (const auto& end : ends) EXPECT_THAT(end.text, HasSubstr("rank 0 and rank 1 have the same GPU"));
}

TEST(NcclTest, ReducesDeviceMemoryInPlace) {
  if (devices() < 2) GTEST_SKIP() << "skipped: " << devices() << " device(s), two are needed";
  const auto ends = testing::run_processes(2, [](std::uint32_t rank, core::Rendezvous& notes) {
    check_cuda(cudaSetDevice(static_cast<int>(rank)), "cudaSetDevice");
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    const auto world = world_of(plugins, notes, rank, 2);
    std::vector<float> values(1000, static_cast<float>(rank + 1));
    const DeviceMemory there(values.size() * sizeof(float));
    check_cuda(cudaMemcpy(there.data(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice), "copy");
    const MemorySpace device{MemoryKind::kDevice, static_cast<std::uint16_t>(rank)};
    world->all_reduce({there.data(), DType::kFloat32, values.size(), device}, ReduceOp::kMean).wait();
    check_cuda(cudaMemcpy(values.data(), there.data(), values.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy");
    return std::to_string(values.front()) + " " + std::to_string(values.back());
  });
  for (const auto& end : ends) EXPECT_EQ(end.text, "1.500000 1.500000");
}

}  // namespace
}  // namespace trainyard::collectives
