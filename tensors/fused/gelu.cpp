// SPDX-License-Identifier: Apache-2.0
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

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

/// GELU with a fused kernel. The forward pass also computes the derivative, because it has the exponential at hand, and
/// saves it instead of x. This takes the same amount of memory, and the backward pass only has to multiply.
struct Gelu : torch::autograd::Function<Gelu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, bool differentiable) {
    at::Tensor y = at::empty(x.sizes(), x.options());
    // An evaluation does not need the derivative.
    const at::Tensor derivative = differentiable ? at::empty(x.sizes(), x.options()) : at::Tensor();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gelu", [&] {
      scalar_t* slopes = differentiable ? derivative.data_ptr<scalar_t>() : nullptr;
      at::parallel_for(0, x.numel() / kLanesTogether, kGrain, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t first = begin * kLanesTogether;
        gelu_forward((end - begin) * kLanesTogether, x.data_ptr<scalar_t>() + first, y.data_ptr<scalar_t>() + first,
                     slopes ? slopes + first : nullptr);
      });
    });
    if (differentiable) context->save_for_backward({derivative});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor derivative = context->get_saved_variables()[0];
    return {derivative.mul(gradients[0]), at::Tensor()};
  }
};

}  // namespace

at::Tensor gelu(const at::Tensor& x_ND) {
  // LibTorch's gelu computes the same function, but computes the derivative only in the backward pass.
  if (!usable({&x_ND}) || !whole_lanes(x_ND.numel())) return at::gelu(x_ND);
  return Gelu::apply(x_ND, at::GradMode::is_enabled() && x_ND.requires_grad());
}

}  // namespace trainyard::fused
