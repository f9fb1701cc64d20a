#include "tensors/arena.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

Buffer zeroed(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

NamedTensor parameter(const std::string& name, at::Tensor tensor) { return {name, tensor.set_requires_grad(true)}; }

std::string text_of_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ArenaTest, ParametersMoveInWithTheirValuesAndAreAlignedTo64Bytes) {
  const at::Tensor weight = at::arange(6, at::kFloat).view({2, 3});
  const at::Tensor kept = weight.clone();
  const Arena arena({parameter("weight", weight), parameter("bias", at::ones({3}))}, {}, &zeroed);
  const ArenaInfo info = arena.info(2, "cpu", "mlp");
  EXPECT_EQ(info.rank, 2u);
  EXPECT_EQ(info.entries[0].offset_bytes, 0u);
  EXPECT_EQ(info.entries[1].offset_bytes, 64u);
  EXPECT_EQ(info.entries[1].name, "bias");
  EXPECT_TRUE(weight.equal(kept));
  EXPECT_EQ(weight.data_ptr(), arena.parameters().data_ptr());
  EXPECT_EQ(arena.parameters().numel(), 32);
  EXPECT_EQ(arena.parameter_count(), 9u);
  EXPECT_EQ(arena.bytes(), 256u);
}

TEST(ArenaTest, AutogradAccumulatesInThePlaceOfTheGradients) {
  const at::Tensor weight = at::randn({3, 5});
  const Arena arena({parameter("weight", weight)}, {}, &zeroed);
  const at::Tensor factor = at::randn({3, 5});
  (weight * factor).sum().backward();
  (weight * factor).sum().backward();
  EXPECT_EQ(weight.grad().data_ptr(), arena.gradients().data_ptr());
  EXPECT_TRUE(arena.gradients().narrow(0, 0, 15).view({3, 5}).allclose(factor * 2));
  EXPECT_EQ(arena.gradients()[15].item<float>(), 0) << "padding stays zero";
}

TEST(ArenaTest, AChangeOfTheBlockIsAChangeOfTheModel) {
  const at::Tensor weight = at::ones({4});
  const Arena arena({parameter("weight", weight)}, {}, &zeroed);
  arena.info(0, "cpu", "").blocks[0].data.as<float>()[2] = 5;
  EXPECT_EQ(weight[2].item<float>(), 5);
}

TEST(ArenaTest, BuffersOfDifferentTypesShareABlockOfBytes) {
  const at::Tensor mean = at::ones({3});
  const at::Tensor count = at::arange(1, at::kLong) + 42;
  const Arena arena({parameter("weight", at::ones({1}))}, {{"mean", mean}, {"count", count}}, &zeroed);
  const ArenaInfo info = arena.info(0, "cpu", "");
  ASSERT_EQ(info.blocks.size(), 3u);
  EXPECT_EQ(info.blocks[2].name, "buffers");
  EXPECT_EQ(info.blocks[2].data.dtype, DType::kUInt8);
  EXPECT_EQ(info.entries[2].offset_bytes, 64u);
  EXPECT_EQ(count.item<std::int64_t>(), 42);
  EXPECT_FALSE(count.requires_grad());
}

TEST(ArenaTest, WhatCannotBeMovedInIsRefusedByName) {
  EXPECT_EQ(text_of_error([] { Arena({}, {}, &zeroed); }), "the model has 0 parameters; at least 1 is needed");
  EXPECT_EQ(text_of_error([] {
              Arena({{"frozen", at::ones({1})}}, {}, &zeroed);
            }),
            "parameter 'frozen' is not a leaf that requires a gradient");
  EXPECT_EQ(text_of_error([] {
              Arena({parameter("a", at::ones({1})), parameter("a", at::ones({1}))}, {}, &zeroed);
            }),
            "the model has two tensors named 'a'");
  EXPECT_EQ(text_of_error([] {
              Arena({parameter("a", at::ones({1})), parameter("b", at::ones({1}, at::kDouble))}, {}, &zeroed);
            }),
            "parameter 'b' is Double while 'a' is Float; all must have one dtype");
}

}  // namespace
}  // namespace trainyard
