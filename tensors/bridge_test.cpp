// SPDX-License-Identifier: Apache-2.0
#include "tensors/bridge.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "messages/error.h"

namespace trainyard {
namespace {

TEST(BridgeTest, AViewReadsTheBytesOfTheMessageTensor) {
  Tensor tensor = Tensor::empty(DType::kFloat32, {2, 3});
  for (int i = 0; i < 6; ++i) tensor.as<float>()[i] = static_cast<float>(i);
  const at::Tensor view = view_of(tensor);
  EXPECT_EQ(view.data_ptr(), tensor.data());
  EXPECT_EQ(view.sizes(), at::IntArrayRef({2, 3}));
  EXPECT_EQ(view[1][2].item<float>(), 5);
  tensor.as<float>()[5] = 7;
  EXPECT_EQ(view[1][2].item<float>(), 7) << "it is no copy";
}

TEST(BridgeTest, AViewKeepsTheBufferAlive) {
  at::Tensor view;
  std::weak_ptr<void> owner;
  {
    const Tensor tensor = Tensor::empty(DType::kInt64, {4});
    owner = tensor.buffer.owner();
    view = view_of(tensor);
  }
  EXPECT_FALSE(owner.expired());
  view.reset();
  EXPECT_TRUE(owner.expired());
}

TEST(BridgeTest, AMessageTensorKeepsTheLibTorchTensorAlive) {
  Tensor message;
  {
    const at::Tensor tensor = at::arange(5, at::kDouble);
    message = message_of(tensor);
    EXPECT_EQ(static_cast<void*>(message.data()), tensor.data_ptr());
  }
  EXPECT_EQ(message.as<double>()[4], 4);
  EXPECT_EQ(message.dtype, DType::kFloat64);
  EXPECT_THAT(message.shape, testing::ElementsAre(5));
}

TEST(BridgeTest, ATensorThatDoesNotFitItsBufferIsRefusedWithBothSizes) {
  Tensor tensor = Tensor::empty(DType::kFloat32, {2});
  tensor.shape = {4};
  try {
    view_of(tensor);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    EXPECT_STREQ(error.what(), "a float32 tensor of shape [4] at offset 0 does not fit into its buffer of 8 bytes");
  }
}

TEST(BridgeTest, ATensorWithGapsCannotBecomeAMessage) {
  const at::Tensor turned = at::ones({2, 3}).t();
  EXPECT_THROW(message_of(turned), Error);
}

TEST(BridgeTest, EveryElementTypeGoesThereAndBack) {
  for (int i = 0; i <= 9; ++i) EXPECT_EQ(dtype_of(scalar_type_of(static_cast<DType>(i))), static_cast<DType>(i));
  EXPECT_THROW(scalar_type_of(static_cast<DType>(99)), Error);
  EXPECT_THROW(dtype_of(at::kComplexFloat), Error);
}

TEST(BridgeTest, AnEmptyTensorHasAView) {
  EXPECT_EQ(view_of(Tensor{.dtype = DType::kFloat32, .shape = {0, 3}}).sizes(), at::IntArrayRef({0, 3}));
}

}  // namespace
}  // namespace trainyard
