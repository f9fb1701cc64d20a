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
  EXPECT_EQ(mps_->facts().at("available"), mps_->is_available() ? "true" : "false");
  EXPECT_EQ(mps_->problem().empty(), mps_->is_available());
}

TEST_F(MpsTest, TheStateContinuesTheNumbersOfTheGpu) {
  if (!mps_->is_available()) GTEST_SKIP() << "skipped: no device";
  mps_->claim(0);
  mps_->seed(7);
  const std::vector<std::uint8_t> state = mps_->rng_state();
  const at::Tensor numbers = at::rand({5}, mps_->claimed());
  mps_->set_rng_state(state);
  EXPECT_TRUE(at::rand({5}, mps_->claimed()).equal(numbers));
}

TEST_F(MpsTest, BatchesArriveOnTheDevice) {
  if (!mps_->is_available()) GTEST_SKIP() << "skipped: no device";
  mps_->claim(0);
  const at::Tensor source = at::rand({3});
  const at::Tensor moved = mps_->to_device({source})[0];
  EXPECT_EQ(moved.device(), mps_->claimed());
  EXPECT_TRUE(moved.cpu().equal(source));
}

}  // namespace
}  // namespace trainyard
