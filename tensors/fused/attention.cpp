// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/split.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensors/fused/attention_kernel.h"
#include "tensors/fused/kernel_types.h"
#include "tensors/fused/ops.h"
#include "tensors/fused/usable.h"
#include "tensors/version.h"

#if TRAINYARD_TORCH_HAS_SDPA
#include <ATen/ops/scaled_dot_product_attention.h>
#endif

namespace trainyard::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The largest head that the kernel supports; for larger heads, LibTorch's operations are used.
constexpr std::int64_t kLargestHead = 128;

/// Returns the sizes; T and S follow from the shape of qkv.
AttentionShape shape_of(const at::Tensor& qkv_N3D, std::int64_t batch, std::int64_t heads) {
  return {batch, qkv_N3D.size(0) / batch, heads, qkv_N3D.size(1) / 3 / heads};
}

/// Causal attention as an autograd function. It saves the probabilities, (T, T) numbers per head, for the backward
/// pass, which therefore need not compute them again.
struct CausalAttention : torch::autograd::Function<CausalAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& qkv, std::int64_t batch, std::int64_t heads) {
    const AttentionShape shape = shape_of(qkv, batch, heads);
    const at::Tensor out = at::empty({qkv.size(0), shape.width()}, qkv.options());
    const at::Tensor probabilities = at::empty({batch * heads, shape.tokens, shape.padded_tokens()},
                                               qkv.options().dtype(arithmetic_type(qkv.scalar_type())));
    with_kernel_types(qkv.scalar_type(), [&](auto types) {
      using Types = decltype(types);
      // A head is never divided, so the numbers do not depend on the number of threads.
      at::parallel_for(0, batch * heads, 1, [&](std::int64_t begin, std::int64_t end) {
        attention_forward(shape, begin, end, numbers<typename Types::Stored>(qkv), numbers<typename Types::Stored>(out),
                          numbers<typename Types::Arithmetic>(probabilities));
      });
    });
    context->save_for_backward({qkv, probabilities});
    context->saved_data["batch"] = batch;
    context->saved_data["heads"] = heads;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& qkv = saved[0];
    const AttentionShape shape =
        shape_of(qkv, context->saved_data["batch"].toInt(), context->saved_data["heads"].toInt());
    const at::Tensor gradient = gradients[0].contiguous();
    // The tensor need not be zeroed, because the kernel writes every element.
    at::Tensor result = at::empty(qkv.sizes(), qkv.options());
    with_kernel_types(qkv.scalar_type(), [&](auto types) {
      using Types = decltype(types);
      using Stored = typename Types::Stored;
      at::parallel_for(0, shape.batch * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
        attention_backward(shape, begin, end, numbers<Stored>(qkv), numbers<typename Types::Arithmetic>(saved[1]),
                           numbers<Stored>(gradient), numbers<Stored>(result));
      });
    });
    return {result, at::Tensor(), at::Tensor()};
  }
};

/// Computes attention with scaled_dot_product_attention if LibTorch has it, otherwise with a sequence of LibTorch's
/// operations. Used for devices and sizes that the kernel does not support, and for dropout.
at::Tensor plain_attention(const at::Tensor& qkv_N3D, const AttentionShape& shape, double dropout) {
  // Three parts of one tensor, whose gradients LibTorch joins in one pass.
  const std::vector<at::Tensor> parts = at::split(qkv_N3D, shape.width(), 1);
  const auto of_heads = [&](const at::Tensor& part_ND) {
    return part_ND.view({shape.batch, shape.tokens, shape.heads, shape.size}).transpose(1, 2);
  };
  const at::Tensor queries = of_heads(parts[0]), keys = of_heads(parts[1]), values = of_heads(parts[2]);
#if TRAINYARD_TORCH_HAS_SDPA
  return at::scaled_dot_product_attention(queries, keys, values, {}, dropout, /*is_causal=*/true)
      .transpose(1, 2)
      .reshape({qkv_N3D.size(0), shape.width()});
#else
  at::Tensor scores = at::matmul(queries, keys.transpose(-2, -1)) / std::sqrt(static_cast<double>(shape.size));
  const double lowest = -std::numeric_limits<double>::infinity();
  // The mask is -inf above the diagonal and 0 on and below it, so no token sees a later one.
  const at::Tensor mask = at::full({shape.tokens, shape.tokens}, lowest, qkv_N3D.options()).triu_(1);
  const at::Tensor probabilities = at::dropout(at::softmax(scores + mask, -1), dropout, /*train=*/dropout > 0);
  return at::matmul(probabilities, values).transpose(1, 2).reshape({qkv_N3D.size(0), shape.width()});
#endif
}

}  // namespace

at::Tensor causal_attention(const at::Tensor& qkv_N3D, std::int64_t batch, std::int64_t heads, double dropout) {
  const AttentionShape shape = shape_of(qkv_N3D, batch, heads);
  const bool fits = (usable({&qkv_N3D}) || usable_bfloat16(qkv_N3D)) && whole_lanes(shape.size) &&
                    shape.size <= kLargestHead && shape.tokens > 0;
  if (!fits || dropout > 0) return plain_attention(qkv_N3D, shape, dropout);
  return CausalAttention::apply(qkv_N3D, batch, heads);
}

}  // namespace trainyard::fused
