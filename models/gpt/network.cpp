// SPDX-License-Identifier: Apache-2.0
#include "models/gpt/network.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "models/initialise.h"
#include "tensors/fused/ops.h"

// Shapes: B batch, T tokens, N = B * T, D width, V vocabulary.
namespace trainyard::gpt {
namespace {

/// The standard deviation of the initial weights, as in GPT-2.
constexpr double kDeviation = 0.02;

/// Applies dropout. With a probability of 0, returns the tensor itself, because LibTorch's dropout would copy it.
at::Tensor drop(at::Tensor x, double dropout) { return dropout > 0 ? at::dropout(x, dropout, /*train=*/true) : x; }

}  // namespace

at::Tensor Network::Linear::operator()(const at::Tensor& x) const { return fused::linear(x, weight, bias); }

Network::Network(const Sizes& sizes)
    : sizes_(sizes),
      token_embedding_(normal_parameter({sizes.vocabulary, sizes.width}, kDeviation)),
      position_embedding_(normal_parameter({sizes.context, sizes.width}, kDeviation)),
      final_norm_(make_norm()) {
  // Every block adds two values to the residual stream. The smaller deviation keeps the variance of the sum independent
  // of the number of blocks.
  const double residual = kDeviation / std::sqrt(2.0 * static_cast<double>(sizes.layers));
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    blocks_.push_back({.before_attention = make_norm(),
                       .attention_in = make_linear(sizes.width, 3 * sizes.width, kDeviation),
                       .attention_out = make_linear(sizes.width, sizes.width, residual),
                       .before_perceptron = make_norm(),
                       .perceptron_in = make_linear(sizes.width, 4 * sizes.width, kDeviation),
                       .perceptron_out = make_linear(4 * sizes.width, sizes.width, residual)});
  }
}

Network::Linear Network::make_linear(std::int64_t in, std::int64_t out, double deviation) const {
  return {.weight = normal_parameter({out, in}, deviation),
          .bias = sizes_.bias ? constant_parameter({out}, 0) : at::Tensor()};
}

Network::Norm Network::make_norm() const {
  // With these initial values, a norm only normalises.
  return {.gain = constant_parameter({sizes_.width}, 1),
          .bias = sizes_.bias ? constant_parameter({sizes_.width}, 0) : at::Tensor()};
}

/// The head has no separate entry, because its weights are the token embedding. The gradient of the token embedding is
/// the sum over both uses.
std::vector<NamedTensor> Network::parameters() const {
  std::vector<NamedTensor> all{{"transformer.wte.weight", token_embedding_},
                               {"transformer.wpe.weight", position_embedding_}};
  const auto add = [&all](const std::string& name, const at::Tensor& weight, const at::Tensor& bias) {
    all.push_back({name + ".weight", weight});
    if (bias.defined()) all.push_back({name + ".bias", bias});
  };
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const std::string prefix = fmt::format("transformer.h.{}.", i);
    add(prefix + "ln_1", block.before_attention.gain, block.before_attention.bias);
    add(prefix + "attn.c_attn", block.attention_in.weight, block.attention_in.bias);
    add(prefix + "attn.c_proj", block.attention_out.weight, block.attention_out.bias);
    add(prefix + "ln_2", block.before_perceptron.gain, block.before_perceptron.bias);
    add(prefix + "mlp.c_fc", block.perceptron_in.weight, block.perceptron_in.bias);
    add(prefix + "mlp.c_proj", block.perceptron_out.weight, block.perceptron_out.bias);
  }
  add("transformer.ln_f", final_norm_.gain, final_norm_.bias);
  return all;
}

/// Returns the tensor that attention adds to the residual stream. A single matrix product computes queries, keys and
/// values, which the attention kernel reads where they are.
at::Tensor Network::attend(const Block& block, const at::Tensor& normed, std::int64_t batch, double dropout) const {
  const at::Tensor qkv = block.attention_in(normed);
  return drop(block.attention_out(fused::causal_attention(qkv, batch, sizes_.heads, dropout)), dropout);
}

/// Returns the tensor that the perceptron adds to the residual stream.
at::Tensor Network::perceive(const Block& block, const at::Tensor& normed, double dropout) const {
  return drop(block.perceptron_out(fused::gelu(block.perceptron_in(normed))), dropout);
}

at::Tensor Network::forward(const at::Tensor& index_BT, bool training) const {
  // The cost per layer: 12 N D^2 multiplications for the matrix products and N T D for attention, and twice as many in
  // the backward pass.
  const double dropout = training ? sizes_.dropout : 0;
  // The tokens of all samples are the rows of one matrix (N, D), because only attention needs to know where a sample
  // ends.
  const std::int64_t batch = index_BT.size(0);
  at::Tensor stream_ND = drop(fused::embed(index_BT, token_embedding_, position_embedding_), dropout);
  at::Tensor normed_ND;
  // The output of a block is added to the stream together with the next norm, in one pass.
  at::Tensor addend_ND;
  const auto next_norm = [&](const Norm& norm) {
    if (!addend_ND.defined()) {
      normed_ND = fused::layer_norm(stream_ND, norm.gain, norm.bias);
    } else {
      std::tie(stream_ND, normed_ND) = fused::add_layer_norm(stream_ND, addend_ND, norm.gain, norm.bias);
    }
  };
  for (const Block& block : blocks_) {
    next_norm(block.before_attention);
    addend_ND = attend(block, normed_ND, batch, dropout);
    next_norm(block.before_perceptron);
    addend_ND = perceive(block, normed_ND, dropout);
  }
  next_norm(final_norm_);
  // The head is a product with the embedding of every token.
  return fused::linear(normed_ND, token_embedding_);
}

at::Tensor Network::embed(const at::Tensor& index_BT, bool training) const {
  const at::Tensor stream_ND = fused::embed(index_BT, token_embedding_, position_embedding_);
  return drop(stream_ND, training ? sizes_.dropout : 0).view({index_BT.size(0), index_BT.size(1), sizes_.width});
}

at::Tensor Network::apply_block(std::size_t layer, const at::Tensor& stream_BTD, bool training) const {
  const double dropout = training ? sizes_.dropout : 0;
  const Block& block = blocks_[layer];
  const at::Tensor stream_ND = stream_BTD.view({-1, sizes_.width});
  const at::Tensor normed_ND = fused::layer_norm(stream_ND, block.before_attention.gain, block.before_attention.bias);
  const auto [sum_ND, normed_sum_ND] =
      fused::add_layer_norm(stream_ND, attend(block, normed_ND, stream_BTD.size(0), dropout),
                            block.before_perceptron.gain, block.before_perceptron.bias);
  return (sum_ND + perceive(block, normed_sum_ND, dropout)).view(stream_BTD.sizes());
}

at::Tensor Network::apply_head(const at::Tensor& stream_BTD) const {
  const at::Tensor stream_ND = stream_BTD.view({-1, sizes_.width});
  const at::Tensor normed_ND = fused::layer_norm(stream_ND, final_norm_.gain, final_norm_.bias);
  return fused::linear(normed_ND, token_embedding_).view({stream_BTD.size(0), stream_BTD.size(1), sizes_.vocabulary});
}

}  // namespace trainyard::gpt
