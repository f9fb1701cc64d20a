// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace trainyard::fused {

// Differentiable operations for which LibTorch needs several passes. The fused kernels process contiguous float and
// double tensors on the CPU if certain sizes are multiples of 16: for gelu the number of elements, for the layer norms
// D, and for causal_attention the size of a head, S, which must also be at most 128. LibTorch's own operations process
// all other tensors. Both produce the same numbers up to rounding, for any number of threads.
//
// gelu, causal_attention and cross_entropy also process bfloat16, the type of the results of matrix products in the
// precision bf16-mixed. They compute in float, and round each bfloat16 result only once.
//
// The kernels do not support gradients of gradients, which training does not need.
//
// Shapes: N rows (B batch times T tokens for text), D width, V classes or words of the vocabulary, I and O the numbers
// of inputs and outputs of a product.

/// Returns x Phi(x), where Phi is the distribution function of the standard normal distribution. This is GELU in its
/// exact form (Hendrycks and Gimpel, 2016), not the approximation by tanh. Float results are accurate to 2e-7.
at::Tensor gelu(const at::Tensor& x_ND);

/// Returns the layer norm over D (Ba, Kiros and Hinton, 2016): (x - mean) / sqrt(variance + epsilon) * gain + bias. The
/// variance is the mean of the squared deviations over D. `bias` may be an undefined tensor.
///
/// Under autocast to bfloat16, the result of the fused kernel is bfloat16, because the matrix product that follows
/// would convert it.
at::Tensor layer_norm(const at::Tensor& x_ND, const at::Tensor& gain_D, const at::Tensor& bias_D,
                      double epsilon = 1e-5);

/// Returns two tensors: the sum x + added, and the layer norm of this sum. A residual network needs both between two
/// blocks. Under autocast to bfloat16, the fused kernel accepts a bfloat16 `added` together with a float x. The sum is
/// then float, and the norm is bfloat16.
std::tuple<at::Tensor, at::Tensor> add_layer_norm(const at::Tensor& x_ND, const at::Tensor& added_ND,
                                                  const at::Tensor& gain_D, const at::Tensor& bias_D,
                                                  double epsilon = 1e-5);

/// Computes causal self-attention with `heads` heads of size S: softmax(Q K^T / sqrt(S)) V, where each token sees
/// itself and the tokens before it. A row of `qkv_N3D` holds the queries, then the keys, then the values of all heads
/// for one token; N = batch * T and D = heads * S. The result is (N, D). `dropout` is the probability with which an
/// element of the softmax is set to zero. If it is not 0, LibTorch's own operations are used.
at::Tensor causal_attention(const at::Tensor& qkv_N3D, std::int64_t batch, std::int64_t heads, double dropout = 0);

/// Returns x W^T + bias, like at::linear: rows of I numbers become rows of O numbers. `bias_O` may be an undefined
/// tensor. The backward pass adds the gradient of the weights directly to `weight_OI.grad()`, which saves passes over
/// memory, if there is no bias, if `weight_OI.grad()` is already defined, and if no hook is registered for the weights.
/// Functions that are called when the gradient of the weights is complete (`add_post_hook` of their accumulator) are
/// called as usual.
at::Tensor linear(const at::Tensor& x_NI, const at::Tensor& weight_OI, const at::Tensor& bias_O = {});

/// Returns, for every token of `index_BT`, the sum of its row in `tokens_VD` and the row of its position, 0 to T - 1,
/// in `positions_TD`, which must have at least T rows. The result is (N, D) with N = B * T. The fused kernel throws
/// kCorrupt for a token that is not in 0 to V - 1.
at::Tensor embed(const at::Tensor& index_BT, const at::Tensor& tokens_VD, const at::Tensor& positions_TD);

/// Returns the mean cross entropy of `logits_NV` against the classes `target_N` (int64). The loss of 16-bit logits is
/// float. The fused kernel throws kCorrupt for a class that is not in 0 to V - 1.
at::Tensor cross_entropy(const at::Tensor& logits_NV, const at::Tensor& target_N);

}  // namespace trainyard::fused
