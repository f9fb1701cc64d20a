// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/words.h"
#include "strategies/micro_batch.h"
#include "strategies/step_trace.h"
#include "tensors/autocast.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// What happens when a loss is infinite or not a number.
enum class OnNan : std::uint8_t {
  kStop,    ///< The run ends with an error that names the step and the batch. No rank makes the update.
  kSkip,    ///< The step is left out on all ranks: the gradients are dropped, and no update is made.
  kIgnore,  ///< Training goes on with whatever comes out.
};
constexpr auto words_of(OnNan) { return words("way with a loss that is not a number", "stop", "skip", "ignore"); }

/// Must be held while a forward pass runs. It keeps autocast switched on, if the run uses it, and keeps the rank's turn
/// to draw random numbers, if the pass may draw some. A rank that holds it must not wait for another rank.
class ForwardScope {
 public:
  /// `type` is the type of computation under autocast; empty means no autocast. `generator` is null if the pass draws
  /// no random numbers.
  ForwardScope(at::DeviceType device, std::optional<at::ScalarType> type, RankGenerator* generator) {
    if (generator != nullptr) turn_.emplace(*generator);
    if (type) autocast_.emplace(device, *type);
  }

 private:
  std::optional<RankGenerator::Turn> turn_;
  std::optional<Autocast> autocast_;
};

/// Runs the forward and the backward passes of a rank with the settings of the run: autocast, the rank's own random
/// numbers, and the check for losses that are not finite.
class Passes {
 public:
  struct Options {
    std::string where;  ///< The beginning of error messages.
    at::DeviceType device = at::kCPU;
    std::optional<at::ScalarType> autocast;  ///< The type of computation; if empty, that of the parameters.
    OnNan on_nan = OnNan::kIgnore;           ///< What happens when a loss is not finite.
    RankGenerator* generator = nullptr;  ///< Gives out turns to draw random numbers; if null, no turn is waited for.
    StepTrace* trace = nullptr;          ///< Records what the rank does and when; null to record nothing.
  };

  explicit Passes(Options options) : options_(std::move(options)) {}

  /// Computes the forward pass of one micro-batch and returns its loss, ready for backward(). Throws what loss()
  /// throws.
  at::Tensor forward(Model& model, const MicroBatch& batch) const;

  /// Runs the backward pass, which adds the gradients of `loss`, times `weight`, to those of the parameters. Returns
  /// the loss without its graph.
  at::Tensor backward(at::Tensor loss, double weight);

  // The following functions are for strategies that run the forward pass in parts.

  /// Return what must be held while a part of a forward pass runs: training() in a training step, evaluation() in a
  /// pass that draws no random numbers.
  ForwardScope training() const { return ForwardScope(options_.device, options_.autocast, options_.generator); }
  ForwardScope evaluation() const { return ForwardScope(options_.device, options_.autocast, nullptr); }

  /// Returns the loss to differentiate, given the one that a model returned. If a loss that is not finite stops the
  /// run, it throws kInvalidArgument, naming the step and the batch. On a device with memory of its own nobody waits
  /// for the loss here; check_losses() looks at it later. If such a loss makes a step be skipped, all its gradients
  /// become NaN, so that every rank notices.
  at::Tensor loss(at::Tensor loss, const MicroBatch& batch) const;

  /// Throws what loss() throws, for the losses that it did not wait for. Called at the end of a step, when the device
  /// is waited for anyway.
  void check_losses() const;

 private:
  /// A loss on a device, with its place in the run.
  struct Unchecked {
    at::Tensor loss;
    std::uint64_t step, epoch, index;
    std::string split;
  };
  void check(double value, const Unchecked& place) const;

  Options options_;
  at::Tensor weight_;        ///< The newest weight, as a tensor without dimensions.
  double weight_value_ = 0;  ///< The value that `weight_` holds.
  mutable std::vector<Unchecked> unchecked_;
};

}  // namespace trainyard
