// SPDX-License-Identifier: Apache-2.0
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

/// Two parameters of 24 and 16 elements, which take 128 and 64 bytes of the block.
TEST(ArenaTest, AShardHoldsItsBytesOfTheParametersAndOfTheGradients) {
  const at::Tensor weight = at::arange(24, at::kFloat), bias = at::ones({16});
  const ArenaShard shard{.begin = 64, .end = 192, .gradients = true, .parameters = true};
  const Arena arena({parameter("weight", weight), parameter("bias", bias)}, {}, &zeroed, {}, shard);
  EXPECT_EQ(arena.parameters().numel(), 32);
  EXPECT_EQ(arena.parameters()[0].item<float>(), 16) << "the second half of the weight";
  EXPECT_EQ(arena.parameters()[8].item<float>(), 0) << "padding";
  EXPECT_EQ(bias.data_ptr(), arena.parameters()[16].data_ptr()) << "lies in it as a whole";
  EXPECT_EQ(bias.grad().data_ptr(), arena.gradients()[16].data_ptr());
  EXPECT_FALSE(weight.grad().defined()) << "does not";
  const ArenaInfo info = arena.info(1, "cpu", "");
  EXPECT_EQ(info.shard_begin, 64u);
  EXPECT_EQ(info.parameter_bytes, 192u);
  EXPECT_EQ(info.blocks[1].data.bytes(), 128u);
  EXPECT_EQ(arena.bytes(), arena.parameter_memory().size() + arena.gradient_memory().size());
  EXPECT_EQ(arena.bytes(), 256u);
}

TEST(ArenaTest, WithAServerTheOptimizerIsGivenTheServersParameters) {
  Arena arena({parameter("weight", at::ones({16}))}, {}, &zeroed);
  const Buffer server = zeroed(64);
  EXPECT_FALSE(arena.info(0, "cpu", "").shared_state);
  arena.serve_from(server);
  const ArenaInfo info = arena.info(0, "cpu", "");
  EXPECT_TRUE(info.shared_state);
  EXPECT_EQ(info.blocks[0].data.data(), server.data());
  EXPECT_NE(info.blocks[1].data.data(), server.data());
}

TEST(ArenaTest, AShardOfWholeBlocksIsWhatTheOptimizerSees) {
  const Arena arena({parameter("weight", at::arange(32, at::kFloat))}, {}, &zeroed, {}, {.begin = 64, .end = 128});
  EXPECT_EQ(arena.parameters().numel(), 32);
  EXPECT_EQ(arena.own_parameters()[0].item<float>(), 16);
  EXPECT_EQ(arena.info(1, "cpu", "").blocks[0].data.as<float>()[0], 16);
  EXPECT_EQ(text_of_error([] { Arena({parameter("w", at::ones({16}))}, {}, &zeroed, {}, {.begin = 8, .end = 64}); }),
            "bytes 8 to 64 are not a shard of 64 bytes; allowed are multiples of 64 within them");
}

}  // namespace
}  // namespace trainyard
