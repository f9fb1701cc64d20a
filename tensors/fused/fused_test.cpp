// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "messages/error.h"
#include "tensors/autocast.h"
#include "tensors/fused/ops.h"

// Compares every operation with the same formula in LibTorch's own operations, whose gradients autograd computes.
namespace trainyard::fused {
namespace {

using Tensors = std::vector<at::Tensor>;
using Operation = std::function<Tensors(const Tensors&)>;

double tolerance(at::ScalarType type) {
  if (type == at::kBFloat16) return 0x1p-7;  // The error of two roundings.
  return type == at::kFloat ? 1e-4 : 1e-10;
}

/// Returns the tensors, with those in bfloat16 converted to float, because the oracle for bfloat16 computes in float.
Tensors widened(const Tensors& tensors) {
  Tensors all;
  for (const at::Tensor& tensor : tensors) {
    all.push_back(tensor.scalar_type() == at::kBFloat16 ? tensor.to(at::kFloat) : tensor);
  }
  return all;
}

/// Returns the outputs of an operation, followed by the gradients of its inputs for the given gradients of the outputs
/// (`directions`).
Tensors run(const Operation& operation, const Tensors& inputs, const Tensors& directions) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(input.clone().set_requires_grad(true));
  Tensors results = operation(leaves);
  at::Tensor sum = (results[0] * directions[0]).sum();
  for (std::size_t i = 1; i < results.size(); ++i) sum = sum + (results[i] * directions[i]).sum();
  sum.backward();
  for (const at::Tensor& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

at::ScalarType narrowest(const Tensors& tensors) {
  at::ScalarType type = tensors[0].scalar_type();
  for (const at::Tensor& tensor : tensors) {
    if (tensor.element_size() < 4) type = tensor.scalar_type();
  }
  return type;
}

void expect_same(const Operation& fused, const Operation& plain, const Tensors& inputs) {
  Tensors directions;
  for (const at::Tensor& output : fused(inputs)) directions.push_back(at::randn(output.sizes(), output.options()));
  const Tensors ours = run(fused, inputs, directions);
  const Tensors theirs = run(plain, widened(inputs), widened(directions));
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].sizes(), theirs[i].sizes()) << "result " << i;
    const double largest = std::max(1.0, theirs[i].abs().max().item<double>());
    EXPECT_LE((ours[i] - theirs[i]).abs().max().item<double>(), tolerance(narrowest(ours)) * largest)
        << "result " << i << " of " << ours.size();
  }
  const Tensors again = run(fused, inputs, directions);
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_TRUE(ours[i].equal(again[i])) << "not deterministic: " << i;
}

class FusedTest : public testing::TestWithParam<at::ScalarType> {
 protected:
  at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape, GetParam()); }
};

at::Tensor plain_attention(const at::Tensor& qkv, std::int64_t batch, std::int64_t heads) {
  const std::int64_t tokens = qkv.size(0) / batch;
  const std::int64_t width = qkv.size(1) / 3;
  const auto part = [&](int index) {
    return qkv.narrow(1, index * width, width).reshape({batch, tokens, heads, width / heads}).transpose(1, 2);
  };
  at::Tensor scores = at::matmul(part(0), part(1).transpose(-2, -1)) / std::sqrt(double(width / heads));
  scores = scores.masked_fill(at::ones({tokens, tokens}).tril().eq(0), -INFINITY);
  return at::matmul(at::softmax(scores, -1), part(2)).transpose(1, 2).reshape({batch * tokens, width});
}

TEST_P(FusedTest, AttentionEqualsThePlainFormula) {
  for (const auto& [tokens, size] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 16}, {3, 32}, {16, 16}, {17, 48}, {64, 32}, {70, 128}, {129, 64}}) {
    SCOPED_TRACE(testing::Message() << tokens << " tokens, heads of " << size);
    expect_same([](const Tensors& in) { return Tensors{causal_attention(in[0], 2, 3)}; },
                [](const Tensors& in) { return Tensors{plain_attention(in[0], 2, 3)}; },
                {random({2 * tokens, 3 * 3 * size})});
  }
}

TEST_P(FusedTest, AttentionOfOddSizesTakesLibTorchsOperations) {
  expect_same([](const Tensors& in) { return Tensors{causal_attention(in[0], 2, 2)}; },
              [](const Tensors& in) { return Tensors{plain_attention(in[0], 2, 2)}; }, {random({2 * 9, 3 * 2 * 5})});
}

TEST_P(FusedTest, AttentionOfLargeScoresDoesNotOverflow) {
  expect_same([](const Tensors& in) { return Tensors{causal_attention(in[0], 1, 1)}; },
              [](const Tensors& in) { return Tensors{plain_attention(in[0], 1, 1)}; }, {random({20, 3 * 16}) * 8});
}

TEST_P(FusedTest, GeluEqualsThePlainFormula) {
  const Operation fused = [](const Tensors& in) { return Tensors{fused::gelu(in[0])}; };
  const Operation plain = [](const Tensors& in) { return Tensors{at::gelu(in[0])}; };
  expect_same(fused, plain, {random({37, 64}) * 3});
  expect_same(fused, plain, {random({5, 7})});
}

TEST_P(FusedTest, LayerNormEqualsThePlainFormula) {
  for (const std::int64_t width : {16, 128, 10}) {
    expect_same([](const Tensors& in) { return Tensors{fused::layer_norm(in[0], in[1], in[2])}; },
                [&](const Tensors& in) { return Tensors{at::layer_norm(in[0], {width}, in[1], in[2])}; },
                {random({300, width}) * 2 + 1, random({width}), random({width})});
  }
}

TEST_P(FusedTest, LayerNormNeedsNoBias) {
  expect_same([](const Tensors& in) { return Tensors{fused::layer_norm(in[0], in[1], {})}; },
              [](const Tensors& in) { return Tensors{at::layer_norm(in[0], {32}, in[1])}; },
              {random({7, 32}), random({32})});
}

TEST_P(FusedTest, AddedLayerNormGivesSumAndNorm) {
  expect_same(
      [](const Tensors& in) {
        const auto [sum, y] = add_layer_norm(in[0], in[1], in[2], {});
        return Tensors{sum, y};
      },
      [](const Tensors& in) {
        const at::Tensor sum = in[0] + in[1];
        return Tensors{sum, at::layer_norm(sum, {48}, in[2])};
      },
      {random({130, 48}), random({130, 48}), random({48})});
}

TEST_P(FusedTest, ANormWhoseSumIsNotUsedFurtherHasTheSameGradients) {
  expect_same([](const Tensors& in) { return Tensors{std::get<1>(add_layer_norm(in[0], in[1], in[2], {}))}; },
              [](const Tensors& in) { return Tensors{at::layer_norm(in[0] + in[1], {16}, in[2])}; },
              {random({9, 16}), random({9, 16}), random({16})});
}

TEST_P(FusedTest, EmbeddingAddsTokensAndPositions) {
  const at::Tensor index = at::randint(11, {3, 6}, at::kLong);
  expect_same([&](const Tensors& in) { return Tensors{embed(index, in[0], in[1])}; },
              [&](const Tensors& in) {
                return Tensors{(at::embedding(in[0], index) + in[1].narrow(0, 0, 6)).view({18, 20})};
              },
              {random({11, 20}), random({8, 20})});
}

TEST_P(FusedTest, CrossEntropyEqualsThePlainFormula) {
  for (const std::int64_t classes : {2, 16, 65, 300}) {
    const at::Tensor target = at::randint(classes, {50}, at::kLong);
    expect_same([&](const Tensors& in) { return Tensors{cross_entropy(in[0], target)}; },
                [&](const Tensors& in) { return Tensors{at::cross_entropy_loss(in[0], target)}; },
                {random({50, classes}) * 5});
  }
}

TEST_P(FusedTest, TheNumberOfThreadsChangesNoBit) {
  const Tensors inputs{random({256, 3 * 64}), random({64}), random({64})};
  const Operation all = [](const Tensors& in) {
    const at::Tensor attended = causal_attention(in[0], 4, 2);
    return Tensors{fused::gelu(fused::layer_norm(attended, in[1], in[2]))};
  };
  const Tensors directions{random({256, 64})};
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Tensors one = run(all, inputs, directions);
  at::set_num_threads(4);
  const Tensors four = run(all, inputs, directions);
  at::set_num_threads(threads);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].equal(four[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(Precisions, FusedTest, testing::Values(at::kFloat, at::kDouble),
                         [](const auto& info) { return std::string(at::toString(info.param)); });

at::Tensor random_bfloat16(at::IntArrayRef shape) { return at::randn(shape).to(at::kBFloat16); }

// In bf16-mixed, the kernels receive bfloat16 results of matrix products, together with a residual stream in float.

TEST(FusedBFloat16Test, AttentionComputesInFloat) {
  for (const auto& [tokens, size] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 16}, {17, 48}, {64, 32}, {70, 128}}) {
    SCOPED_TRACE(testing::Message() << tokens << " tokens, heads of " << size);
    const at::Tensor qkv = random_bfloat16({2 * tokens, 3 * 3 * size});
    EXPECT_EQ(causal_attention(qkv, 2, 3).scalar_type(), at::kBFloat16);
    expect_same([](const Tensors& in) { return Tensors{causal_attention(in[0], 2, 3)}; },
                [](const Tensors& in) { return Tensors{plain_attention(in[0], 2, 3)}; }, {qkv});
  }
}

TEST(FusedBFloat16Test, GeluIsRoundedOnce) {
  const at::Tensor x = random_bfloat16({37, 64}) * 3;
  expect_same([](const Tensors& in) { return Tensors{fused::gelu(in[0])}; },
              [](const Tensors& in) { return Tensors{at::gelu(in[0])}; }, {x});
  // Rounding alone causes a relative error of up to 2^-8. The function itself may add a tenth of this.
  const at::Tensor exact = at::gelu(x.to(at::kDouble));
  const at::Tensor error = (fused::gelu(x).to(at::kDouble) - exact).abs();
  EXPECT_TRUE((error <= exact.abs() * (1.1 * 0x1p-8) + 1e-6).all().item<bool>()) << error.max().item<double>();
}

TEST(FusedBFloat16Test, UnderAutocastANormIsWrittenForTheProductsThatFollow) {
  const at::Tensor bias = at::randn({48});
  for (const at::Tensor& used_bias : {at::Tensor(), bias}) {
    expect_same(
        [&](const Tensors& in) {
          const Autocast autocast(at::kCPU, at::kBFloat16);
          const at::Tensor y = fused::layer_norm(in[0], in[1], used_bias);
          EXPECT_EQ(y.scalar_type(), at::kBFloat16);
          return Tensors{y};
        },
        [&](const Tensors& in) { return Tensors{at::layer_norm(in[0], {48}, in[1], used_bias)}; },
        {at::randn({300, 48}) * 2 + 1, at::randn({48})});
  }
}

TEST(FusedBFloat16Test, UnderAutocastTheResidualStreamStaysFloat) {
  expect_same(
      [](const Tensors& in) {
        const Autocast autocast(at::kCPU, at::kBFloat16);
        const auto [sum, y] = add_layer_norm(in[0], in[1], in[2], {});
        EXPECT_EQ(sum.scalar_type(), at::kFloat);
        EXPECT_EQ(y.scalar_type(), at::kBFloat16);
        return Tensors{sum, y};
      },
      [](const Tensors& in) {
        const at::Tensor sum = in[0] + in[1];
        return Tensors{sum, at::layer_norm(sum, {48}, in[2])};
      },
      {at::randn({130, 48}), random_bfloat16({130, 48}), at::randn({48})});
}

TEST(FusedBFloat16Test, WithoutAutocastANormStaysFloat) {
  EXPECT_EQ(fused::layer_norm(at::randn({4, 16}), at::ones({16}), {}).scalar_type(), at::kFloat);
  const auto [sum, y] = add_layer_norm(at::randn({4, 16}), random_bfloat16({4, 16}), at::ones({16}), {});
  EXPECT_EQ(sum.scalar_type(), at::kFloat);
  EXPECT_EQ(y.scalar_type(), at::kFloat);
}

TEST(FusedBFloat16Test, TheLossOfBFloat16LogitsIsFloat) {
  const at::Tensor target = at::randint(65, {50}, at::kLong);
  const at::Tensor logits = random_bfloat16({50, 65}) * 5;
  EXPECT_EQ(cross_entropy(logits, target).scalar_type(), at::kFloat);
  expect_same([&](const Tensors& in) { return Tensors{cross_entropy(in[0], target)}; },
              [&](const Tensors& in) { return Tensors{at::cross_entropy_loss(in[0], target)}; }, {logits});
}

TEST(FusedBFloat16Test, NumbersThatAreNotFiniteStayWhatTheyAre) {
  const float infinity = std::numeric_limits<float>::infinity();
  at::Tensor x = at::ones({16}).to(at::kBFloat16);
  x[3] = std::numeric_limits<float>::quiet_NaN();
  x[5] = infinity;
  const at::Tensor y = fused::gelu(x).to(at::kFloat);
  EXPECT_TRUE(std::isnan(y[3].item<float>()));
  EXPECT_EQ(y[5].item<float>(), infinity);
  EXPECT_EQ(y[0].item<float>(), at::gelu(at::ones({16})).to(at::kBFloat16)[0].item<float>());
}

TEST(FusedRangeTest, NumbersOutsideTheVocabularyAreRefusedWithTheirPlace) {
  const at::Tensor tokens = at::full({1, 3}, 7, at::kLong);
  try {
    embed(tokens, at::ones({7, 16}), at::ones({3, 16}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "token 7 at place 0 of the batch is not in the vocabulary of 7");
  }
  EXPECT_THROW(cross_entropy(at::ones({3, 7}), tokens.view(-1)), Error);
}

TEST(FusedRangeTest, ShapesThatDoNotFitAreRefusedBeforeAnythingIsRead) {
  const at::Tensor tokens = at::zeros({1, 4}, at::kLong);
  EXPECT_THROW(embed(tokens, at::ones({7, 16}), at::ones({3, 16})), Error) << "four tokens, three positions";
  EXPECT_THROW(cross_entropy(at::ones({3, 7}), tokens.view(-1)), Error) << "four targets, three rows";
}

}  // namespace
}  // namespace trainyard::fused
