// SPDX-License-Identifier: Apache-2.0
#include "tensors/borrowed_block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard {
namespace {

TEST(BorrowedBlockTest, ViewsSeeTheMemoryThatIsLentWhenTheyAreUsed) {
  BorrowedBlock block(6, at::kFloat);
  const at::Tensor view = block.view(2, {2, 2});
  EXPECT_EQ(view.sizes(), at::IntArrayRef({2, 2}));
  block.lend(at::arange(6, at::kFloat));
  EXPECT_EQ(view.sum().item<float>(), 2 + 3 + 4 + 5);
  block.lend(at::ones({6}));
  EXPECT_EQ(view.sum().item<float>(), 4);
}

TEST(BorrowedBlockTest, WithoutMemoryItHasSizesAlone) {
  BorrowedBlock block(4, at::kFloat);
  EXPECT_FALSE(block.has_memory());
  const at::Tensor view = block.view(0, {2, 2});
  EXPECT_EQ(view.sizes(), at::IntArrayRef({2, 2}));
  EXPECT_EQ(view.storage().data(), nullptr);
  block.lend(at::ones({4}));
  EXPECT_TRUE(block.has_memory());
  block.take_back();
  EXPECT_FALSE(block.has_memory());
  EXPECT_EQ(view.storage().data(), nullptr);
}

TEST(BorrowedBlockTest, BackwardFindsItsSavedTensorsInOtherMemory) {
  BorrowedBlock block(6, at::kFloat);
  at::Tensor weight = at::ones({2, 3}).set_requires_grad(true);
  weight.set_data(block.view(0, {2, 3}));
  block.lend(at::arange(6, at::kFloat));
  const at::Tensor input = at::ones({1, 3}).set_requires_grad(true);
  const at::Tensor sum = at::linear(input, weight).sum();
  block.take_back();
  block.lend(at::arange(6, at::kFloat));
  sum.backward();
  block.take_back();
  EXPECT_TRUE(input.grad().equal(at::arange(3, at::kFloat).mul(2).add(3).view({1, 3})));
  EXPECT_TRUE(weight.grad().equal(at::ones({2, 3})));
}

TEST(BorrowedBlockTest, MemoryOfAnotherSizeIsRefused) {
  BorrowedBlock block(4, at::kFloat);
  EXPECT_THROW(block.lend(at::ones({5})), Error);
  EXPECT_THROW(block.lend(at::ones({4}, at::kDouble)), Error);
}

}  // namespace
}  // namespace trainyard
