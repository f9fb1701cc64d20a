// SPDX-License-Identifier: Apache-2.0
// Kills processes of a run on a real GPU. This process, which has no part in the run, watches the memory of the GPU.
#include <gtest/gtest.h>

#include "accelerators/cuda/nvml.h"
#include "tests/gpu/gpu_fixture.h"

namespace trainyard {
namespace {

constexpr double kMebibyte = 1 << 20;

class KilledGpuProcessTest : public testing::GpuRunTest, public ::testing::WithParamInterface<const char*> {
 protected:
  /// Returns how many bytes of the GPU's memory all processes together use; 0 if NVML cannot tell.
  static double used_bytes() { return cuda::Nvml(testing::bus_id_of_first_gpu()).stats()["device_memory_bytes"]; }
};

TEST_P(KilledGpuProcessTest, EndsTheRunWithItsNameAndLeavesNoMemoryOfTheGpu) {
  const std::string component = GetParam();
  const double before = used_bytes();
  if (before == 0) GTEST_SKIP() << "skipped: NVML does not say how much memory of the GPU is used";
  // Parameters, gradients and the state of AdamW take 4 x 4 x 16 Mi bytes.
  const auto training =
      train("killed", {testing::kGpu, "placement=processes", "component.optimizer.params={rule=\"adamw\",lr=1e-4}",
                       "component.accelerator_host.params.model={plugin=\"mlp\",hidden=[4096,4096]}"});
  ASSERT_TRUE(eventually([&] { return !steps("killed").empty(); })) << training->all();
  EXPECT_GT(used_bytes(), before + 256 * kMebibyte);
  expect_failure_without(component, *training);
  EXPECT_TRUE(eventually([&] { return used_bytes() <= before + kMebibyte; }))
      << (used_bytes() - before) / kMebibyte << " MiB are still used";
}

INSTANTIATE_TEST_SUITE_P(Components, KilledGpuProcessTest, ::testing::Values("optimizer", "accelerator_host"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace trainyard
