// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>

#include "tensors/fused/kernel_types.h"
#include "tensors/fused/ops.h"
#include "tensors/fused/pointwise_kernel.h"
#include "tensors/fused/usable.h"

namespace trainyard::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Returns the gradient of the weights to which a product can be added, or an undefined tensor if autograd must do so:
/// it has no memory yet, or somebody wants to see or change what is added.
at::Tensor gradient_to_add_to(const at::Tensor& weight) {
  if (at::GradMode::is_enabled() || !weight.is_leaf() || !torch::autograd::impl::hooks(weight).empty()) return {};
  const at::Tensor& gradient = weight.grad();
  return gradient.defined() && usable({&gradient}) && gradient.scalar_type() == weight.scalar_type() ? gradient
                                                                                                     : at::Tensor();
}

/// Adds a bfloat16 product to a float gradient, in one pass.
void add_bfloat16(const at::Tensor& product, const at::Tensor& gradient) {
  constexpr std::int64_t kNumbers = 16;  // Threads divide the numbers at multiples of this number.
  constexpr std::int64_t kGrain = 2048;  // The smallest number of such groups for one thread.
  at::parallel_for(0, gradient.numel() / kNumbers, kGrain, [&](std::int64_t begin, std::int64_t end) {
    add_widened((end - begin) * kNumbers, numbers<BFloat16>(product) + begin * kNumbers,
                gradient.data_ptr<float>() + begin * kNumbers);
  });
}

/// A product with weights that adds their gradient to the memory of the gradient at once. Autograd would first write it
/// to memory of its own, convert it, and then add it: up to three passes over memory that is not in the cache.
///
/// Autograd is told that there is no further gradient. It still calls the functions that wait for the gradients of
/// these weights to be complete, once all uses of the weights have contributed.
struct Linear : torch::autograd::Function<Linear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            bool x_is_differentiable) {
    const at::Tensor factor = weight.to(x.scalar_type());
    context->save_for_backward({x, weight, factor});
    context->saved_data["x_is_differentiable"] = x_is_differentiable;
    return at::mm(x, factor.t());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor above = gradients[0];
    at::Tensor x_gradient;
    if (context->saved_data["x_is_differentiable"].toBool()) x_gradient = at::mm(above, saved[2]);
    if (const at::Tensor gradient = gradient_to_add_to(weight); !gradient.defined()) {
      return {x_gradient, at::mm(above.t(), x).to(weight.scalar_type()), at::Tensor()};
    } else if (gradient.scalar_type() == x.scalar_type()) {
      gradient.addmm_(above.t(), x);
    } else if (whole_lanes(gradient.numel())) {
      add_bfloat16(at::mm(above.t(), x).contiguous(), gradient);
    } else {
      gradient.add_(at::mm(above.t(), x));
    }
    return {x_gradient, at::Tensor(), at::Tensor()};
  }
};

/// Returns true if matrix products convert float weights to the type of x.
bool converts(const at::Tensor& x) { return usable_bfloat16(x) && products_take_bfloat16(); }

}  // namespace

at::Tensor linear(const at::Tensor& x_NI, const at::Tensor& weight_OI, const at::Tensor& bias_O) {
  const bool trained = at::GradMode::is_enabled() && weight_OI.requires_grad();
  const bool fits = x_NI.dim() == 2 && usable({&weight_OI}) &&
                    (usable({&weight_OI, &x_NI}) ? !active_autocast(at::kCPU)
                                                 : converts(x_NI) && weight_OI.scalar_type() == at::kFloat);
  if (!trained || !fits || bias_O.defined()) return at::linear(x_NI, weight_OI, bias_O);
  return Linear::apply(x_NI, weight_OI, x_NI.requires_grad());
}

}  // namespace trainyard::fused
