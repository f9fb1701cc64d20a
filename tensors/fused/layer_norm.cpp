// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "tensors/fused/kernel_types.h"
#include "tensors/fused/ops.h"
#include "tensors/fused/pointwise_kernel.h"
#include "tensors/fused/usable.h"
#include "tensors/version.h"

namespace trainyard::fused {

// One function serves layer_norm() and add_layer_norm(). For layer_norm(), `added` is missing, the sum is x itself, and
// x is not copied.

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The number of rows whose contributions to the gradients of gain and bias are added up by one thread. It is fixed, so
/// the order of the additions does not depend on the number of threads.
constexpr std::int64_t kChunk = 128;

/// Custom functions do not accept undefined tensors, but they accept an empty optional.
using Maybe = TorchOptional<at::Tensor>;
Maybe maybe(const at::Tensor& tensor) { return tensor.defined() ? Maybe(tensor) : Maybe(); }

/// Returns the address of the elements, or null if the tensor is missing, as the kernels expect.
template <class T>
const T* numbers(const Maybe& tensor) {
  return tensor ? fused::numbers<T>(*tensor) : nullptr;
}

std::int64_t chunks_of(std::int64_t rows) { return (rows + kChunk - 1) / kChunk; }

/// Runs `work(chunk, first row, end row)` for all chunks. A chunk is never divided between threads.
template <class Work>
void by_chunks(std::int64_t rows, const Work& work) {
  at::parallel_for(0, chunks_of(rows), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      work(chunk, chunk * kChunk, std::min((chunk + 1) * kChunk, rows));
    }
  });
}

/// The layer norm as an autograd function. The inputs are x, added (may be missing), gain and bias (may be missing).
/// The outputs are y and, if `added` was given, the sum x + added. `type` is the type of y and of `added`: either the
/// type of x, or bfloat16 if x is float.
struct LayerNorm : torch::autograd::Function<LayerNorm> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const Maybe& added,
                               const at::Tensor& gain, const Maybe& bias, double epsilon, at::ScalarType type) {
    at::Tensor y = at::empty(x.sizes(), x.options().dtype(type));
    const at::Tensor sum = added ? at::empty(x.sizes(), x.options()) : x;
    // For the backward pass, two numbers per row are saved (the mean and 1 / deviation) instead of the normalised row,
    // which the backward pass computes again.
    const at::Tensor statistics = at::empty({x.size(0), 2}, x.options());
    with_kernel_types(type, [&](auto types) {
      using T = typename decltype(types)::Arithmetic;
      using S = typename decltype(types)::Stored;
      const NormForward<T, S> work{
          x.size(1), fused::numbers<T>(x),   numbers<S>(added),    fused::numbers<T>(gain),      numbers<T>(bias),
          epsilon,   fused::numbers<T>(sum), fused::numbers<S>(y), fused::numbers<T>(statistics)};
      by_chunks(x.size(0), [&](std::int64_t, std::int64_t begin, std::int64_t end) { norm_forward(begin, end, work); });
    });
    // If an output was not used, its gradient stays undefined. By default, LibTorch would make a tensor of zeros, and
    // the kernel would have to read it.
    context->set_materialize_grads(false);
    context->save_for_backward({sum, statistics, gain});
    context->saved_data["bias"] = bias.has_value();
    context->saved_data["added"] = added.has_value();
    return added ? variable_list{y, sum} : variable_list{y};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& sum = saved[0];
    const bool has_bias = context->saved_data["bias"].toBool();
    const bool has_added = context->saved_data["added"].toBool();
    const at::Tensor direct = has_added && gradients[1].defined() ? gradients[1].contiguous() : at::Tensor();
    // The model used only the sum, not the norm.
    if (!gradients[0].defined()) return {direct, direct, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
    const at::Tensor above = gradients[0].contiguous();
    at::Tensor result = at::empty(sum.sizes(), sum.options());
    // x and `added` have the same gradient, that of their sum, but each in its own type.
    const bool same_type = above.scalar_type() == sum.scalar_type();
    at::Tensor added_result;
    if (has_added) added_result = same_type ? result : at::empty(sum.sizes(), above.options());
    // Each chunk writes to its own row, so threads do not share memory. The rows are added up below, in order.
    const at::Tensor gains = at::zeros({chunks_of(sum.size(0)), sum.size(1)}, sum.options());
    const at::Tensor biases = has_bias ? at::zeros_like(gains) : at::Tensor();
    with_kernel_types(above.scalar_type(), [&](auto types) {
      using T = typename decltype(types)::Arithmetic;
      using S = typename decltype(types)::Stored;
      const NormBackward<T, S> work{sum.size(1),
                                    fused::numbers<T>(sum),
                                    fused::numbers<T>(saved[1]),
                                    fused::numbers<T>(saved[2]),
                                    fused::numbers<S>(above),
                                    fused::numbers<T>(direct),
                                    fused::numbers<T>(result),
                                    same_type ? nullptr : fused::numbers<S>(added_result)};
      by_chunks(sum.size(0), [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        norm_backward(begin, end, work, gains.data_ptr<T>() + chunk * sum.size(1),
                      has_bias ? biases.data_ptr<T>() + chunk * sum.size(1) : nullptr);
      });
    });
    return {result, added_result, gains.sum(0), has_bias ? biases.sum(0) : at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

/// Returns the type of y and of `added` if the kernels can process these tensors, otherwise nullopt. A norm is the
/// input of a matrix product, so under autocast to bfloat16 it is written in bfloat16 immediately. The exception is an
/// `added` of another type, which shows that the matrix products of this network are not converted.
std::optional<at::ScalarType> kernel_type(const at::Tensor& x, const at::Tensor& added, const at::Tensor& gain,
                                          const at::Tensor& bias) {
  if (x.dim() != 2 || !whole_lanes(x.size(1)) || !usable({&x, &gain, &bias})) return {};
  const bool narrow = x.scalar_type() == at::kFloat && products_take_bfloat16();
  if (narrow && (!added.defined() || usable_bfloat16(added))) return at::kBFloat16;
  return usable({&x, &added}) ? std::optional(x.scalar_type()) : std::nullopt;
}

at::Tensor plain_norm(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& bias, double epsilon) {
  return at::layer_norm(x, {x.size(-1)}, gain, bias, epsilon);
}

}  // namespace

at::Tensor layer_norm(const at::Tensor& x_ND, const at::Tensor& gain_D, const at::Tensor& bias_D, double epsilon) {
  const std::optional<at::ScalarType> type = kernel_type(x_ND, {}, gain_D, bias_D);
  if (!type) return plain_norm(x_ND, gain_D, bias_D, epsilon);
  return LayerNorm::apply(x_ND, Maybe(), gain_D, maybe(bias_D), epsilon, *type)[0];
}

std::tuple<at::Tensor, at::Tensor> add_layer_norm(const at::Tensor& x_ND, const at::Tensor& added_ND,
                                                  const at::Tensor& gain_D, const at::Tensor& bias_D, double epsilon) {
  const std::optional<at::ScalarType> type = kernel_type(x_ND, added_ND, gain_D, bias_D);
  if (!type) {
    const at::Tensor sum = x_ND + added_ND;
    return {sum, plain_norm(sum, gain_D, bias_D, epsilon)};
  }
  const variable_list both = LayerNorm::apply(x_ND, maybe(added_ND), gain_D, maybe(bias_D), epsilon, *type);
  return {both[1], both[0]};
}

}  // namespace trainyard::fused
