// SPDX-License-Identifier: Apache-2.0
// A device of the type PrivateUse1 implements the fused cross entropy, as docs/adding_an_accelerator.md describes.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <tuple>

#include "tensors/fused/ops.h"
#include "tests/test_accelerator/card.h"

namespace trainyard::test_accelerator {
namespace {

const at::Device kCard(at::kPrivateUse1, 0);
int forward_calls = 0;
int backward_calls = 0;

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& logits, const at::Tensor& target) {
  ++forward_calls;
  const at::Tensor values = logits.to(at::kCPU), log_sums = values.logsumexp(1);
  const at::Tensor right = values.gather(1, target.to(at::kCPU).unsqueeze(1)).squeeze(1);
  return {(log_sums - right).mean().to(logits.device()), log_sums.to(logits.device())};
}

at::Tensor backward(const at::Tensor& factor, const at::Tensor& logits, const at::Tensor& target,
                    const at::Tensor& log_sums) {
  ++backward_calls;
  at::Tensor result = (logits.to(at::kCPU) - log_sums.to(at::kCPU).unsqueeze(1)).exp();
  const at::Tensor places = target.to(at::kCPU).unsqueeze(1);
  result.scatter_add_(1, places, at::full(places.sizes(), -1.0, result.options()));
  return (result * factor.to(at::kCPU) / result.size(0)).to(logits.device());
}

TEST(CrossEntropyTest, IsThatOfTheDeviceIfItHasOne) {
  torch::Library library(torch::Library::IMPL, "trainyard", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  library.impl("cross_entropy", &forward);
  library.impl("cross_entropy_backward", &backward);
  const at::Tensor logits = at::randn({6, 5}).requires_grad_();
  const at::Tensor target = at::arange(6, at::kLong).remainder(5);
  const at::Tensor expected = at::cross_entropy_loss(logits, target);
  expected.backward();
  const at::Tensor there = logits.detach().to(kCard).requires_grad_();
  const at::Tensor loss = fused::cross_entropy(there, target.to(kCard));
  loss.backward();
  EXPECT_EQ(forward_calls, 1);
  EXPECT_EQ(backward_calls, 1);
  EXPECT_TRUE(at::allclose(loss.to(at::kCPU), expected));
  EXPECT_TRUE(at::allclose(there.grad().to(at::kCPU), logits.grad()));
}

}  // namespace
}  // namespace trainyard::test_accelerator
