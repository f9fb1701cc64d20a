// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "tensors/fused/kernel_types.h"
#include "tensors/fused/ops.h"
#include "tensors/fused/pointwise_kernel.h"
#include "tensors/fused/usable.h"

namespace trainyard::fused {

// The operation works on single numbers, so the tensor's shape does not matter, as long as the number of elements is a
// multiple of 16.

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kLanesTogether = 16;  ///< Threads divide the elements at multiples of this number.
constexpr std::int64_t kGrain = 2048;        ///< The smallest number of such groups for one thread.

/// Divides `all` numbers into parts for the threads, and runs `work(first, count)` for each part.
template <class Work>
void by_lanes(std::int64_t all, const Work& work) {
  at::parallel_for(0, all / kLanesTogether, kGrain, [&](std::int64_t begin, std::int64_t end) {
    work(begin * kLanesTogether, (end - begin) * kLanesTogether);
  });
}

/// GELU with a fused kernel. The forward pass also computes the derivative, because it has the exponential at hand, and
/// saves it instead of x. This takes the same amount of memory, and the backward pass only has to multiply.
struct Gelu : torch::autograd::Function<Gelu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, bool differentiable) {
    at::Tensor y = at::empty(x.sizes(), x.options());
    // An evaluation does not need the derivative.
    const at::Tensor derivative = differentiable ? at::empty(x.sizes(), x.options()) : at::Tensor();
    with_kernel_types(x.scalar_type(), [&](auto types) {
      using Stored = typename decltype(types)::Stored;
      auto* slopes = numbers<Stored>(derivative);
      by_lanes(x.numel(), [&](std::int64_t first, std::int64_t count) {
        gelu_forward(count, numbers<Stored>(x) + first, numbers<Stored>(y) + first, slopes ? slopes + first : nullptr);
      });
    });
    if (differentiable) context->save_for_backward({derivative});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor derivative = context->get_saved_variables()[0];
    const at::Tensor above = gradients[0].contiguous();
    at::Tensor result = at::empty(derivative.sizes(), derivative.options());
    with_kernel_types(derivative.scalar_type(), [&](auto types) {
      using Stored = typename decltype(types)::Stored;
      by_lanes(result.numel(), [&](std::int64_t first, std::int64_t count) {
        gelu_backward(count, numbers<Stored>(derivative) + first, numbers<Stored>(above) + first,
                      numbers<Stored>(result) + first);
      });
    });
    return {result, at::Tensor()};
  }
};

}  // namespace

at::Tensor gelu(const at::Tensor& x_ND) {
  // LibTorch's gelu computes the same function, but computes the derivative only in the backward pass.
  const bool fits = (usable({&x_ND}) || usable_bfloat16(x_ND)) && whole_lanes(x_ND.numel());
  if (!fits) return at::gelu(x_ND);
  return Gelu::apply(x_ND, at::GradMode::is_enabled() && x_ND.requires_grad());
}

}  // namespace trainyard::fused
