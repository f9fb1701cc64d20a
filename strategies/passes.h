// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "strategies/micro_batch.h"
#include "strategies/step_trace.h"
#include "tensors/autocast.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// What is held while a forward pass runs: autocast, if the run uses it, and the rank's turn at random numbers, if the
/// pass may draw some. A rank must not wait for another rank meanwhile.
class ForwardScope {
 public:
  /// `type` is the type of computation under autocast; empty means no autocast. `generator` may be null.
  ForwardScope(at::DeviceType device, std::optional<at::ScalarType> type, RankGenerator* generator) {
    if (generator != nullptr) turn_.emplace(*generator);
    if (type) autocast_.emplace(device, *type);
  }

 private:
  std::optional<RankGenerator::Turn> turn_;
  std::optional<Autocast> autocast_;
};

/// The forward and the backward pass of a rank, as its run wants them: under autocast, with the rank's random numbers,
/// and with a check for losses that are not finite.
class Passes {
 public:
  struct Options {
    std::string where;  ///< The beginning of error messages.
    at::DeviceType device = at::kCPU;
    std::optional<at::ScalarType> autocast;  ///< The type of computation; if empty, that of the parameters.
    bool detect_anomaly = false;             ///< True to refuse a loss that is not finite.
    RankGenerator* generator = nullptr;      ///< Gives out turns to draw; if null, nobody waits for a turn.
    StepTrace* trace = nullptr;              ///< Records what was done when; null to record nothing.
  };

  explicit Passes(Options options) : options_(std::move(options)) {}

  /// Computes the forward pass of one micro-batch and returns its loss, ready for backward(). Throws what loss()
  /// throws.
  at::Tensor forward(Model& model, const MicroBatch& batch) const;

  /// Adds the gradients times `weight` to the existing ones. Returns the loss without its graph.
  at::Tensor backward(at::Tensor loss, double weight);

  // These are for strategies that take the forward pass apart.

  /// The first must be held while a part of the forward pass of a training step runs, the second while a part of a pass
  /// runs that draws no numbers.
  ForwardScope training() const { return ForwardScope(options_.device, options_.autocast, options_.generator); }
  ForwardScope evaluation() const { return ForwardScope(options_.device, options_.autocast, nullptr); }

  /// Returns the loss to differentiate, given the one that a model returned. Throws kInvalidArgument, naming the batch,
  /// if anomalies are to be detected and the loss is not finite.
  at::Tensor loss(at::Tensor loss, const MicroBatch& batch) const;

 private:
  Options options_;
  at::Tensor weight_;        ///< The newest weight, as a tensor without dimensions.
  double weight_value_ = 0;  ///< The value that `weight_` holds.
};

}  // namespace trainyard
