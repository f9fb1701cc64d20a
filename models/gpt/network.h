// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "tensors/named_tensor.h"

namespace trainyard::gpt {

/// The sizes and options of a GPT. `width` is the number of values per token, and must be a multiple of `heads`.
/// `context` is the largest number of tokens in a sample. On the CPU, the network is fastest if it can use all fused
/// kernels of this project (tensors/fused/ops.h). This requires that `width` and the width of a head, `width / heads`,
/// are multiples of 16, that the latter is at most 128, and that `dropout` is 0.
struct Sizes {
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t width = 128;
  std::int64_t context = 64;
  std::int64_t vocabulary = 0;
  double dropout = 0;
  bool bias = false;
};

/// The decoder-only transformer of GPT-2, as in nanoGPT (shapes: B samples of T tokens, width D, vocabulary V). It has
/// embeddings of tokens and positions, and a sequence of blocks. A block consists of causal self-attention and a
/// perceptron whose hidden layer has four times the width. Each of these two parts is preceded by a layer norm, and the
/// output of each part is added to the residual stream. The head uses the token embedding as its weights. The tensors
/// have the same names and shapes as in nanoGPT.
///
/// The architecture and the smaller initial weights of the residual layers are from Radford et al., "Language Models
/// are Unsupervised Multitask Learners" (2019). The sharing of weights between head and token embedding is from Press
/// and Wolf, "Using the Output Embedding to Improve Language Models" (2017).
class Network {
 public:
  /// Draws the weights from normal distributions with mean 0. The standard deviation is 0.02 / sqrt(2 * layers) for the
  /// layers whose output is added to the residual stream, and 0.02 for all others. Biases start at 0, and the gains of
  /// the norms at 1.
  explicit Network(const Sizes& sizes);

  /// Returns all trainable tensors, in a fixed order. The returned tensors share their memory with the network.
  std::vector<NamedTensor> parameters() const;

  /// Returns logits of shape (B*T, V): for each token of `index_BT`, the scores of all V tokens that can follow it. T
  /// is at most the length of the context. `training` switches dropout on.
  at::Tensor forward(const at::Tensor& index_BT, bool training) const;

  // The parts of the forward pass: embed(), then apply_block() for every layer, then apply_head(). Each part passes the
  // residual stream, of shape (B, T, D), to the next.
  at::Tensor embed(const at::Tensor& index_BT, bool training) const;
  at::Tensor apply_block(std::size_t layer, const at::Tensor& stream_BTD, bool training) const;
  /// Returns logits of shape (B, T, V).
  at::Tensor apply_head(const at::Tensor& stream_BTD) const;

  /// Returns the sizes that the constructor was given.
  const Sizes& sizes() const { return sizes_; }

  /// Returns the device of the network's tensors. Inputs must be on the same device.
  at::Device device() const { return token_embedding_.device(); }

 private:
  // Weights are stored as (out, in), as in torch.nn.Linear.
  struct Linear {
    at::Tensor weight;  ///< (out, in)
    at::Tensor bias;    ///< (out); undefined if the network has no biases.
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Norm {
    at::Tensor gain;  ///< (D)
    at::Tensor bias;  ///< (D); undefined if the network has no biases.
  };
  // x += attend(norm(x)); x += perceive(norm(x))
  struct Block {
    Norm before_attention;
    Linear attention_in;   ///< D -> 3 D: query, key, value.
    Linear attention_out;  ///< D -> D
    Norm before_perceptron;
    Linear perceptron_in;   ///< D -> 4 D
    Linear perceptron_out;  ///< 4 D -> D
  };

  Linear make_linear(std::int64_t in, std::int64_t out, double deviation) const;
  Norm make_norm() const;
  // Both functions return a tensor of shape (N, D), N = B * T, which the caller adds to the residual stream.
  at::Tensor attend(const Block& block, const at::Tensor& normed, std::int64_t batch, double dropout) const;
  at::Tensor perceive(const Block& block, const at::Tensor& normed, double dropout) const;

  Sizes sizes_;
  at::Tensor token_embedding_;     ///< (V, D); also the weights of the head.
  at::Tensor position_embedding_;  ///< (context, D)
  std::vector<Block> blocks_;
  Norm final_norm_;
};

}  // namespace trainyard::gpt
