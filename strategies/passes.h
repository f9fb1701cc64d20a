#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "strategies/micro_batch.h"
#include "strategies/step_trace.h"
#include "tensors/autocast.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// What has to be kept while a forward pass runs: autocast, if the run has it, and the rank's turn at random numbers,
/// if the pass may draw some. Nothing of another rank may be waited for meanwhile.
class ForwardScope {
 public:
  /// `type`: what is computed in under autocast; none: no autocast. `generator` may be null.
  ForwardScope(at::DeviceType device, std::optional<at::ScalarType> type, RankGenerator* generator) {
    if (generator != nullptr) turn_.emplace(*generator);
    if (type) autocast_.emplace(device, *type);
  }

 private:
  std::optional<RankGenerator::Turn> turn_;
  std::optional<Autocast> autocast_;
};

/// The forward and the backward pass of a rank, as its run wants them: under autocast, with the rank's random numbers,
/// with a look for losses that are not finite.
class Passes {
 public:
  struct Options {
    std::string where;  ///< For errors.
    at::DeviceType device = at::kCPU;
    std::optional<at::ScalarType> autocast;  ///< What is computed in; none: in the type of the parameters.
    bool detect_anomaly = false;             ///< Refuse a loss that is not finite.
    RankGenerator* generator = nullptr;      ///< Whose turn it is to draw; null: nobody waits for a turn.
    StepTrace* trace = nullptr;              ///< What was done when is written there; null: nowhere.
  };

  explicit Passes(Options options) : options_(std::move(options)) {}

  /// Forward of one micro-batch; its loss, ready for backward(). Throws as loss() does.
  at::Tensor forward(Model& model, const MicroBatch& batch) const;

  /// Adds gradients times `weight` to what is there already. Returns the loss without its graph.
  at::Tensor backward(at::Tensor loss, double weight);

  // For whoever takes the forward pass apart.

  /// To be kept while a part of a forward pass runs that belongs to a training step; or one that draws no numbers.
  ForwardScope training() const { return ForwardScope(options_.device, options_.autocast, options_.generator); }
  ForwardScope evaluation() const { return ForwardScope(options_.device, options_.autocast, nullptr); }

  /// What is differentiated for a loss that a model gave. Throws kInvalidArgument, naming the batch, if anomalies are
  /// looked for and it is not finite.
  at::Tensor loss(at::Tensor loss, const MicroBatch& batch) const;

 private:
  Options options_;
  at::Tensor weight_;        ///< 0-dimensional: the newest weight.
  double weight_value_ = 0;  ///< What `weight_` holds.
};

}  // namespace trainyard
