// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "tensors/named_tensor.h"

namespace trainyard::gpt {

/// The sizes of a GPT. `width` is a multiple of `heads`. If the width and the width of a head are multiples of 16, the
/// fused kernels are used, and otherwise those of LibTorch.
struct Sizes {
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t width = 128;
  std::int64_t context = 64;
  std::int64_t vocabulary = 0;
  double dropout = 0;
  bool bias = false;
};

/// The decoder-only transformer of GPT-2, as in nanoGPT. It has embeddings of tokens and positions, and blocks of
/// causal self-attention and a perceptron of four times the width. Each of the two follows a layer norm and is added to
/// the residual stream. The head shares the token embedding. Tensors have nanoGPT's names and shapes.
///
/// The architecture and the smaller weights of residual layers are from Radford et al., "Language Models are
/// Unsupervised Multitask Learners" (2019). The shared head is from Press and Wolf, "Using the Output Embedding to
/// Improve Language Models" (2017).
class Network {
 public:
  /// Draws the parameters from normal distributions: with a deviation of 0.02 / sqrt(2 layers) for layers whose result
  /// is added to the residual stream, and of 0.02 for all others.
  explicit Network(const Sizes& sizes);

  /// Returns all trainable tensors, in a fixed order. They share their memory with the network.
  std::vector<NamedTensor> parameters() const;

  /// Returns the logits (B*T, V) of the token that follows each token of `index_BT`. T is at most the context.
  at::Tensor forward(const at::Tensor& index_BT, bool training) const;

  // The forward pass in pieces: embed, apply_block for every layer, apply_head. They pass on the residual stream (B, T,
  // D).
  at::Tensor embed(const at::Tensor& index_BT, bool training) const;
  at::Tensor apply_block(std::size_t layer, const at::Tensor& stream_BTD, bool training) const;
  /// Returns logits (B, T, V).
  at::Tensor apply_head(const at::Tensor& stream_BTD) const;

  /// Returns the sizes with which the network was made.
  const Sizes& sizes() const { return sizes_; }

  /// Returns the device of the parameters, on which inputs have to be as well.
  at::Device device() const { return token_embedding_.device(); }

 private:
  // Weights are stored as (out, in), as in torch.nn.Linear.
  struct Linear {
    at::Tensor weight;  ///< (out, in)
    at::Tensor bias;    ///< Undefined without biases.
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Norm {
    at::Tensor gain;
    at::Tensor bias;  ///< Undefined without biases.
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
  // Both return what is added to the stream, (N, D), not the new stream.
  at::Tensor attend(const Block& block, const at::Tensor& normed, std::int64_t batch, double dropout) const;
  at::Tensor perceive(const Block& block, const at::Tensor& normed, double dropout) const;

  Sizes sizes_;
  at::Tensor token_embedding_;     ///< (V, D), also the head.
  at::Tensor position_embedding_;  ///< (context, D)
  std::vector<Block> blocks_;
  Norm final_norm_;
};

}  // namespace trainyard::gpt
