// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>
#include <string>

#include "tensors/autocast.h"
#include "tensors/fused/ops.h"

namespace trainyard::fused {
namespace {

at::Tensor ours(const at::Tensor& x, const at::Tensor& weight) { return fused::linear(x, weight); }
at::Tensor plain(const at::Tensor& x, const at::Tensor& weight) { return at::linear(x, weight); }

/// Weights that are trained. Their gradient has memory already, as in an arena.
at::Tensor weights(const at::Tensor& values, bool with_memory = true) {
  at::Tensor weight = values.clone().set_requires_grad(true);
  if (with_memory) weight.mutable_grad() = at::zeros_like(values);
  return weight;
}

void expect_near(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  ASSERT_EQ(a.sizes(), b.sizes());
  const double largest = b.abs().max().item<double>() + 1;
  EXPECT_LE((a - b).abs().max().item<double>(), tolerance * largest);
}

class LinearTest : public testing::TestWithParam<at::ScalarType> {
 protected:
  at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape, GetParam()); }
  double tolerance() const { return GetParam() == at::kDouble ? 1e-12 : 1e-4; }
};

TEST_P(LinearTest, GradientsOfSeveralBatchesAddUp) {
  const at::Tensor values = random({48, 32});
  at::Tensor mine = weights(values);
  at::Tensor theirs = weights(values);
  const at::Tensor memory = mine.grad();
  for (int batch = 0; batch < 3; ++batch) {
    const at::Tensor x = random({21, 32});
    const at::Tensor my_x = x.clone().set_requires_grad(true);
    const at::Tensor their_x = x.clone().set_requires_grad(true);
    const at::Tensor direction = random({21, 48});
    const at::Tensor y = ours(my_x, mine);
    expect_near(y, plain(their_x, theirs), tolerance());
    (y * direction).sum().backward();
    (plain(their_x, theirs) * direction).sum().backward();
    expect_near(mine.grad(), theirs.grad(), tolerance());
    expect_near(my_x.grad(), their_x.grad(), tolerance());
  }
  EXPECT_TRUE(mine.grad().is_same(memory)) << "the gradient is where it was";
}

TEST_P(LinearTest, AGradientWithoutMemoryGetsSome) {
  const at::Tensor x = random({5, 32});
  const at::Tensor weight = weights(random({16, 32}), /*with_memory=*/false);
  ours(x, weight).sum().backward();
  expect_near(weight.grad(), at::mm(at::ones({16, 5}, GetParam()), x), tolerance());
}

TEST_P(LinearTest, ABiasIsAdded) {
  const at::Tensor x = random({5, 32});
  const at::Tensor weight = weights(random({16, 32}));
  const at::Tensor bias = random({16}).set_requires_grad(true);
  const at::Tensor y = fused::linear(x, weight, bias);
  expect_near(y, at::linear(x, weight, bias), tolerance());
  y.sum().backward();
  expect_near(bias.grad(), at::full({16}, 5, GetParam()), tolerance());
}

TEST_P(LinearTest, FrozenWeightsLetTheGradientThrough) {
  const at::Tensor x = random({5, 32}).set_requires_grad(true);
  const at::Tensor weight = random({16, 32});
  ours(x, weight).sum().backward();
  expect_near(x.grad(), at::mm(at::ones({5, 16}, GetParam()), weight), tolerance());
  EXPECT_FALSE(weight.grad().defined());
}

TEST_P(LinearTest, AHookSeesAndChangesTheGradient) {
  const at::Tensor x = random({5, 32});
  const at::Tensor weight = weights(random({16, 32}));
  weight.register_hook([](const at::Tensor& gradient) { return gradient * 2; });
  ours(x, weight).sum().backward();
  expect_near(weight.grad(), at::mm(at::full({16, 5}, 2, GetParam()), x), tolerance());
}

/// Counts how often autograd says that a gradient is complete.
struct Counter : torch::autograd::FunctionPostHook {
  explicit Counter(int& count) : count_(count) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list& /*inputs*/) override {
    ++count_;
    return outputs;
  }
  int& count_;
};

TEST_P(LinearTest, WeightsThatAreUsedTwiceAreCompleteOnce) {
  const at::Tensor weight = weights(random({32, 32}));
  const at::Tensor same = weights(weight.detach());
  int complete = 0;
  const auto accumulator = torch::autograd::impl::grad_accumulator(weight);
  accumulator->add_post_hook(std::make_unique<Counter>(complete));
  const at::Tensor x = random({5, 32});
  ours(ours(x, weight), weight).sum().backward();
  plain(plain(x, same), same).sum().backward();
  EXPECT_EQ(complete, 1);
  expect_near(weight.grad(), same.grad(), tolerance());
}

INSTANTIATE_TEST_SUITE_P(Precisions, LinearTest, testing::Values(at::kFloat, at::kDouble),
                         [](const auto& info) { return std::string(at::toString(info.param)); });

TEST(LinearBFloat16Test, UnderAutocastTheProductIsRoundedAndTheSumIsNot) {
  for (const std::int64_t width : {32, 5}) {
    const at::Tensor weight = weights(at::randn({3, width}));
    weight.mutable_grad() += 1;
    const at::Tensor before = weight.grad().clone();
    const at::Tensor x = at::randn({21, width}).to(at::kBFloat16).set_requires_grad(true);
    const at::Tensor direction = at::randn({21, 3}).to(at::kBFloat16);
    at::Tensor y;
    {
      const Autocast autocast(at::kCPU, at::kBFloat16);
      y = ours(x, weight);
    }
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    y.backward(direction);
    EXPECT_TRUE(weight.grad().equal(before + at::mm(direction.t(), x.detach()).to(at::kFloat)));
    EXPECT_TRUE(x.grad().equal(at::mm(direction, weight.detach().to(at::kBFloat16))));
  }
}

TEST(LinearBFloat16Test, FloatsUnderAutocastAreConvertedByLibTorch) {
  const at::Tensor weight = weights(at::randn({16, 32}));
  const at::Tensor x = at::randn({5, 32});
  const Autocast autocast(at::kCPU, at::kBFloat16);
  EXPECT_EQ(ours(x, weight).scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace trainyard::fused
