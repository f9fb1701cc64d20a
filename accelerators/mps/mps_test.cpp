// SPDX-License-Identifier: Apache-2.0
#include "accelerators/mps/mps.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace trainyard {
namespace {

class MpsTest : public ::testing::Test {
 protected:
  MpsTest() {
    context_.where = "accelerator 'mps'";
    context_.parameters = "{}";
    mps_ = std::make_unique<Mps>(context_);
  }

  AcceleratorContext context_;
  std::unique_ptr<Mps> mps_;
};

TEST_F(MpsTest, SaysTruthfullyWhetherThereIsADevice) {
  EXPECT_EQ(mps_->find_devices().problem.empty(), mps_->is_available());
}

TEST_F(MpsTest, TheStateContinuesTheNumbersOfTheGpu) {
  if (!mps_->is_available()) GTEST_SKIP() << "skipped: no device";
  const auto gpu = mps_->claim(0);
  gpu->seed(7);
  const std::vector<std::uint8_t> state = gpu->rng_state();
  const at::Tensor numbers = at::rand({5}, gpu->torch_device());
  gpu->set_rng_state(state);
  EXPECT_TRUE(at::rand({5}, gpu->torch_device()).equal(numbers));
}

TEST_F(MpsTest, BatchesArriveOnTheDevice) {
  if (!mps_->is_available()) GTEST_SKIP() << "skipped: no device";
  const auto gpu = mps_->claim(0);
  const at::Tensor source = at::rand({3});
  const at::Tensor moved = gpu->to_device({source})[0];
  EXPECT_EQ(moved.device(), gpu->torch_device());
  EXPECT_TRUE(moved.cpu().equal(source));
}

}  // namespace
}  // namespace trainyard
