// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "models/gpt/network.h"
#include "models/gpt/sampling.h"
#include "models/model.h"

namespace trainyard {

/// A GPT language model. A sample has two fields, "input" and "target". Each field has one token number for every
/// position of the context. The length of the context and the vocabulary come from the dataset.
///
/// If the model is asked to predict without an input, it generates a text that continues the text in the parameter
/// `prompt`.
///
/// Errors  kShapeMismatch (a dataset that does not have two fields of tokens), kInvalidArgument (heads that do not
///         divide the width; a prompt with a character that the vocabulary lacks), kCorrupt (a token beyond the
///         vocabulary)
class Gpt final : public Model {
 public:
  explicit Gpt(ModelContext& context) : Model(context) {}

  ModelTraits traits() const override { return {{TargetKind::kTokens}}; }
  /// Makes the layers, with initial values from LibTorch's default generator. If the run resumes, the values of the
  /// checkpoint replace them later.
  void build(const DatasetInfo& data) override;
  std::vector<NamedTensor> parameters() override { return network_->parameters(); }
  /// Switches dropout on (true) or off (false). The model has no other layers that differ between training and
  /// evaluation.
  void set_training(bool training) override { training_ = training; }
  /// Returns the mean cross entropy over all tokens of the batch, in nats.
  at::Tensor training_step(const ModelBatch& batch) override;
  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override;

  /// Generates a text for every sample of the batch: the sample's input, and a continuation. If the batch has no
  /// tensors, generates one text: `prompt`, and a continuation.
  Prediction predict(const ModelBatch& batch) override;

  /// Returns the stages: the embeddings, one stage for each block, and the head, which shares the token embedding with
  /// the first stage. Each stage passes the residual stream, of shape (samples, tokens, width), to the next stage.
  std::vector<Stage> stages() override;
  at::Tensor stage_input(const ModelBatch& batch) override;
  at::Tensor loss(const at::Tensor& output, const ModelBatch& batch) override;
  std::vector<NamedMetric> metrics(const at::Tensor& output, const ModelBatch& batch) override;

 private:
  gpt::Sizes sizes_for(const DatasetInfo& data) const;
  std::vector<std::int64_t> first_tokens() const;
  std::string continuation(std::vector<std::int64_t> prompt) const;

  Parameter<std::int64_t> layers_{*this, "layers", 4, "number of blocks", at_least(1)};
  Parameter<std::int64_t> heads_{*this, "heads", 4, "attention heads; must divide the width", at_least(1)};
  Parameter<std::int64_t> width_{*this, "width", 128, "numbers per token", at_least(1)};
  Parameter<double> dropout_{*this, "dropout", 0.0, "share of the activations that dropout sets to zero in training",
                             between(0, 0.99)};
  Parameter<bool> bias_{*this, "bias", false, "linear layers and norms have biases"};
  Parameter<std::int64_t> sample_tokens_{*this, "sample_tokens", 500, "length of a generated text", at_least(1)};
  Parameter<double> temperature_{*this, "temperature", 0.8,
                                 "temperature of generation; 0 = always the most likely token", at_least(0)};
  Parameter<std::int64_t> top_k_{*this, "top_k", 200, "how many of the likeliest tokens can be drawn; 0 = all",
                                 at_least(0)};
  Parameter<std::string> prompt_{*this, "prompt", "", "text for generation to continue; empty = a new line"};

  std::unique_ptr<gpt::Network> network_;
  std::vector<std::string> vocabulary_;
  bool training_ = true;
};

}  // namespace trainyard
