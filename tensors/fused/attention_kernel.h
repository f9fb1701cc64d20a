// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/half.h"

namespace trainyard::fused {

/// The sizes of the tensors in causal self-attention, in which each token attends to itself and to the tokens before
/// it.
struct AttentionShape {
  std::int64_t batch = 0;   ///< The number of samples, B.
  std::int64_t tokens = 0;  ///< The number of tokens in a sample, T.
  std::int64_t heads = 0;   ///< The number of heads, H.
  std::int64_t size = 0;    ///< The size of one head: a multiple of 16, at most 128.

  std::int64_t width() const { return heads * size; }

  /// Returns the length of a row in the array of probabilities: `tokens`, rounded up to a multiple of 16.
  std::int64_t padded_tokens() const { return (tokens + 15) / 16 * 16; }
};

// A row of qkv, for one token:
//
//     | Q of head 0 | Q of head 1 | ... | K of head 0 | K of head 1 | ... | V of head 0 | ... |
//
// There are batch * heads heads in all. Each function works on the heads from `begin` up to, but not including, `end`,
// so that different threads can work on different heads. The versions for bfloat16 compute in float. The shapes are qkv
// (B*T, 3*H*size), out (B*T, H*size) and probabilities (B*H, T, padded_tokens()). The probability of a token that is
// masked, because it comes later, is 0.

/// Computes self-attention for the heads from `begin` up to, but not including, `end`. Reads the queries, keys and
/// values from `qkv`, writes the results to `out`, and writes the softmax probabilities, which the backward pass needs,
/// to `probabilities`.
void attention_forward(const AttentionShape& shape, std::int64_t begin, std::int64_t end, const float* qkv, float* out,
                       float* probabilities);
void attention_forward(const AttentionShape& shape, std::int64_t begin, std::int64_t end, const double* qkv,
                       double* out, double* probabilities);
void attention_forward(const AttentionShape& shape, std::int64_t begin, std::int64_t end, const BFloat16* qkv,
                       BFloat16* out, float* probabilities);

/// Computes the gradient with respect to `qkv` from `out_gradient`, the gradient with respect to the result, for the
/// heads from `begin` up to, but not including, `end`. Overwrites every element of `qkv_gradient` that belongs to these
/// heads. `probabilities` must come from attention_forward(). Takes about twice as long as the forward pass.
void attention_backward(const AttentionShape& shape, std::int64_t begin, std::int64_t end, const float* qkv,
                        const float* probabilities, const float* out_gradient, float* qkv_gradient);
void attention_backward(const AttentionShape& shape, std::int64_t begin, std::int64_t end, const double* qkv,
                        const double* probabilities, const double* out_gradient, double* qkv_gradient);
void attention_backward(const AttentionShape& shape, std::int64_t begin, std::int64_t end, const BFloat16* qkv,
                        const float* probabilities, const BFloat16* out_gradient, BFloat16* qkv_gradient);

}  // namespace trainyard::fused
