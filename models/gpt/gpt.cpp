// SPDX-License-Identifier: Apache-2.0
#include "models/gpt/gpt.h"

#include <fmt/format.h>

#include <algorithm>

#include "messages/error.h"
#include "messages/tensor.h"
#include "tensors/fused/ops.h"

namespace trainyard {
namespace {

/// Returns the token numbers as int64, which LibTorch requires; a dataset may use a smaller type.
at::Tensor token_numbers(const at::Tensor& tokens) {
  return tokens.scalar_type() == at::kLong ? tokens : tokens.to(at::kLong);
}

}  // namespace

/// Returns the sizes of the network. The context and the vocabulary come from the dataset, and the other sizes from the
/// parameters.
gpt::Sizes Gpt::sizes_for(const DatasetInfo& data) const {
  const bool fits = data.fields.size() == 2 && data.fields[0].shape.size() == 1 &&
                    data.fields[0].shape == data.fields[1].shape && data.classes > 0;
  if (!fits) {
    throw Error(Code::kShapeMismatch,
                "{} needs two fields, input and target, of as many token numbers each, and a vocabulary; dataset '{}' "
                "has {} fields{}, {} tokens in its vocabulary",
                where(), data.dataset, data.fields.size(),
                data.fields.empty() ? "" : ", the first of shape " + to_text(data.fields[0].shape), data.classes);
  }
  // Each head gets an equal share of the width.
  if (*width_ % *heads_ != 0) {
    throw Error(Code::kInvalidArgument, "{}: width = {} cannot be shared by heads = {}; heads must divide the width",
                where(), *width_, *heads_);
  }
  return {.layers = *layers_,
          .heads = *heads_,
          .width = *width_,
          .context = data.fields[0].shape[0],
          .vocabulary = static_cast<std::int64_t>(data.classes),
          .dropout = *dropout_,
          .bias = *bias_};
}

void Gpt::build(const DatasetInfo& data) {
  network_ = std::make_unique<gpt::Network>(sizes_for(data));
  vocabulary_ = data.vocabulary;
}

at::Tensor Gpt::stage_input(const ModelBatch& batch) { return token_numbers(batch.tensors[0]); }

at::Tensor Gpt::loss(const at::Tensor& output, const ModelBatch& batch) {
  // Every position has a target, the next token, so a sample of T tokens is T examples for the loss.
  return fused::cross_entropy(output.flatten(0, -2), token_numbers(batch.tensors[1]).reshape(-1));
}

std::vector<NamedMetric> Gpt::metrics(const at::Tensor& output, const ModelBatch& batch) {
  return {{"loss", loss(output, batch)}};
}

at::Tensor Gpt::training_step(const ModelBatch& batch) {
  return loss(network_->forward(stage_input(batch), training_), batch);
}

std::vector<NamedMetric> Gpt::evaluation_step(const ModelBatch& batch) { return {{"loss", training_step(batch)}}; }

std::vector<Stage> Gpt::stages() {
  const std::vector<NamedTensor> all = parameters();
  std::vector<Stage> stages;
  stages.push_back({.name = "transformer.embedding",
                    .parameters = with_prefix(all, "transformer.w"),
                    .buffers = {},
                    .forward = [this](const at::Tensor& index_BT) { return network_->embed(index_BT, training_); }});
  for (std::int64_t i = 0; i < *layers_; ++i) {
    const std::string name = fmt::format("transformer.h.{}", i);
    stages.push_back({.name = name,
                      .parameters = with_prefix(all, name + "."),
                      .buffers = {},
                      .forward = [this, i](const at::Tensor& stream_BTD) {
                        return network_->apply_block(static_cast<std::size_t>(i), stream_BTD, training_);
                      }});
  }
  stages.push_back({.name = "transformer.head",
                    .parameters = with_prefix(all, "transformer.ln_f"),
                    .buffers = {},
                    .forward = [this](const at::Tensor& stream_BTD) { return network_->apply_head(stream_BTD); }});
  stages.back().parameters.push_back(all.front());  // The token embedding.
  return stages;
}

std::string Gpt::continuation(std::vector<std::int64_t> prompt) const {
  const gpt::SamplingOptions options{.tokens = *sample_tokens_, .temperature = *temperature_, .top_k = *top_k_};
  return gpt::decode(gpt::sample(*network_, std::move(prompt), options), vocabulary_);
}

std::vector<std::int64_t> Gpt::first_tokens() const {
  if (!prompt_->empty()) return gpt::encode(*prompt_, vocabulary_);
  // For a model of characters, a new line is the most natural start of a text.
  const auto line_end = std::find(vocabulary_.begin(), vocabulary_.end(), "\n");
  // Without a new line in the vocabulary, token 0 is as good a start as any other.
  return {line_end == vocabulary_.end() ? 0 : line_end - vocabulary_.begin()};
}

Prediction Gpt::predict(const ModelBatch& batch) {
  Prediction prediction{.title = "generated text", .text = "", .tensors = {}};
  if (batch.tensors.empty()) {
    prediction.text = continuation(first_tokens());
    return prediction;
  }
  const at::Tensor input_BT = token_numbers(batch.tensors[0]).to(at::kCPU).contiguous();
  // Texts are generated one after another, because predictions are rare.
  for (std::int64_t row = 0; row < input_BT.size(0); ++row) {
    const auto* tokens = input_BT.data_ptr<std::int64_t>() + row * input_BT.size(1);
    prediction.text += continuation({tokens, tokens + input_BT.size(1)}) + "\n";
  }
  return prediction;
}

}  // namespace trainyard

TRAINYARD_MODEL(trainyard::Gpt, "gpt", "A GPT for characters or tokens, with fused kernels on the CPU.")
