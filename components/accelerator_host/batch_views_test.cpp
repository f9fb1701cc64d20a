// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/batch_views.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace trainyard {
namespace {

TEST(BatchViewsTest, TheSameMemoryGetsTheSameViewAgain) {
  BatchViews views;
  const Tensor tensor = Tensor::empty(DType::kFloat32, {3, 2});
  const void* first = views.view(tensor).unsafeGetTensorImpl();
  views.release();
  EXPECT_EQ(views.view(tensor).unsafeGetTensorImpl(), first);
  EXPECT_EQ(views.size(), 1u);
}

TEST(BatchViewsTest, AnotherShapeOrTypeInTheSameMemoryIsAnotherView) {
  BatchViews views;
  Tensor tensor = Tensor::empty(DType::kFloat32, {3, 2});
  views.view(tensor);
  views.release();
  tensor.shape = {2, 3};
  EXPECT_EQ(views.view(tensor).sizes(), at::IntArrayRef({2, 3}));
  views.release();
  tensor.dtype = DType::kInt32;
  EXPECT_EQ(views.view(tensor).scalar_type(), at::kInt);
  EXPECT_EQ(views.size(), 3u);
}

TEST(BatchViewsTest, TheBufferIsHeldUntilRelease) {
  BatchViews views;
  std::weak_ptr<void> owner;
  {
    const Tensor tensor = Tensor::empty(DType::kFloat32, {4});
    owner = tensor.buffer.owner();
    views.view(tensor);
  }
  EXPECT_FALSE(owner.expired());
  views.release();
  EXPECT_TRUE(owner.expired());
}

TEST(BatchViewsTest, AViewThatSomebodyKeepsKeepsItsBuffer) {
  BatchViews views;
  std::weak_ptr<void> owner;
  at::Tensor kept;
  {
    const Tensor tensor = Tensor::empty(DType::kFloat32, {4});
    owner = tensor.buffer.owner();
    kept = views.view(tensor).narrow(0, 0, 2);
  }
  views.release();
  EXPECT_FALSE(owner.expired()) << "a part of the view is still in use";
  kept.reset();
  views.release();
  EXPECT_TRUE(owner.expired());
}

TEST(BatchViewsTest, MoreBuffersThanItRemembersStillGetViews) {
  BatchViews views;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 100; ++i) {
    tensors.push_back(Tensor::empty(DType::kFloat32, {1}));
    tensors.back().as<float>()[0] = static_cast<float>(i);
    EXPECT_EQ(views.view(tensors.back()).item<float>(), i);
    views.release();
  }
  EXPECT_LE(views.size(), 32u);
  EXPECT_EQ(views.view(Tensor{.shape = {0, 6}}).numel(), 0);
}

}  // namespace
}  // namespace trainyard
