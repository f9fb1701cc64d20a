#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "tensors/named_tensor.h"

namespace trainyard {

/// What a GPT is made of. `width` is a multiple of `heads`; multiples of 16 in both the width and the width of a head
/// take the fused kernels, others LibTorch's.
struct GptSizes {
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t width = 128;
  std::int64_t context = 64;
  std::int64_t vocabulary = 0;
  double dropout = 0;
  bool bias = false;
};

/// The decoder-only transformer of GPT-2 as nanoGPT writes it: token and position embeddings, blocks of causal
/// self-attention and a perceptron of four times the width, each behind a layer norm and around a residual; the head
/// shares the token embedding. Tensors have nanoGPT's names and shapes.
///
/// Sources: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), for the architecture and the
/// smaller weights of residual layers; Press and Wolf, "Using the Output Embedding to Improve Language Models" (2017),
/// for the shared head.
class GptNetwork {
 public:
  /// Draws parameters: normal with deviation 0.02, and 0.02 / sqrt(2 layers) for what ends in a residual.
  explicit GptNetwork(const GptSizes& sizes);

  /// All trainable tensors, in a fixed order; they share their memory with the network.
  std::vector<NamedTensor> parameters() const;

  /// Logits (B*T, V) of every token's successor, for `index_BT` with T <= context.
  at::Tensor forward(const at::Tensor& index_BT, bool training) const;

  // The same in pieces: embed, apply_block for every layer, apply_head. Between them is the residual stream (B, T, D).
  at::Tensor embed(const at::Tensor& index_BT, bool training) const;
  at::Tensor apply_block(std::size_t layer, const at::Tensor& stream_BTD, bool training) const;
  /// Logits (B, T, V).
  at::Tensor apply_head(const at::Tensor& stream_BTD) const;

  /// What it was made with.
  const GptSizes& sizes() const { return sizes_; }

  /// Where the parameters are, and what is fed in has to be.
  at::Device device() const { return token_embedding_.device(); }

 private:
  // Weights stand as (out, in), as torch.nn.Linear has them.
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
  // Both return what is to be added to the stream, (N, D), not the new stream.
  at::Tensor attend(const Block& block, const at::Tensor& normed, std::int64_t batch, double dropout) const;
  at::Tensor perceive(const Block& block, const at::Tensor& normed, double dropout) const;

  GptSizes sizes_;
  at::Tensor token_embedding_;     ///< (V, D), also the head.
  at::Tensor position_embedding_;  ///< (context, D)
  std::vector<Block> blocks_;
  Norm final_norm_;
};

}  // namespace trainyard
