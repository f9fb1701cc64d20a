// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "messages/words.h"
#include "strategies/micro_batch.h"
#include "strategies/step_trace.h"
#include "tensors/autocast.h"
#include "tensors/rank_generator.h"
#include "tensors/work_recorder.h"

namespace trainyard {

/// What to do if a loss is infinite or not a number.
enum class OnNan : std::uint8_t {
  /// The run ends with an error that names the step and the batch. In this step, this rank makes no update, unless its
  /// device reads losses later (Passes::Options::read_later): the error is then found only after the update.
  kStop,
  /// The step is skipped: the gradients are discarded, and no update is made. All ranks skip the step, unless each rank
  /// decides alone which steps to skip (GradientsOfRanks::kIndependent).
  kSkip,
  kIgnore,  ///< Training continues as after any other loss.
};
constexpr auto words_of(OnNan) { return words("reaction to a loss that is not finite", "stop", "skip", "ignore"); }

/// A guard that must exist while a forward pass runs. It switches on autocast if the run uses it. If the pass may draw
/// random numbers, it also holds a lock (RankGenerator::Turn), because ranks in one process share LibTorch's random
/// generator. The rank must therefore not wait for another rank while the guard exists.
class ForwardScope {
 public:
  /// `type` is the type to which autocast converts on devices of type `device`; if empty, autocast is off. `generator`
  /// is null if the lock is not needed.
  ForwardScope(at::DeviceType device, std::optional<at::ScalarType> type, RankGenerator* generator) {
    if (generator != nullptr) turn_.emplace(*generator);
    if (type) autocast_.emplace(device, *type);
  }

 private:
  std::optional<RankGenerator::Turn> turn_;
  std::optional<Autocast> autocast_;
};

/// Runs the forward and backward passes of a rank with the settings of the run: autocast, random numbers, and the check
/// for losses that are not finite.
class Passes {
 public:
  struct Options {
    std::string where;  ///< The prefix of error messages.
    at::DeviceType device = at::kCPU;
    /// The type to which autocast converts; if empty, autocast is off.
    std::optional<at::ScalarType> autocast;
    OnNan on_nan = OnNan::kIgnore;  ///< What to do if a loss is not finite.
    /// The generator of this rank's random numbers; null if the rank need not share LibTorch's generator with other
    /// ranks.
    RankGenerator* generator = nullptr;
    /// A function that begins to read the value of a loss; see ClaimedDevice::read_later. Empty if the device cannot do
    /// this.
    std::function<std::function<double()>(const at::Tensor&)> read_later;
    /// Records the passes of a micro-batch and repeats them for later micro-batches; null to compute every pass anew.
    WorkRecorder* recorder = nullptr;
    /// Called once if there is a recorder, but the strategy computes the two passes separately, so that nothing is
    /// recorded. May be empty.
    std::function<void()> on_unrecorded;
    StepTrace* trace = nullptr;  ///< Records what the rank did and when; null to record nothing.
  };

  explicit Passes(Options options) : options_(std::move(options)) {}

  /// Computes the forward pass of one micro-batch and returns its loss, which can be passed to backward(). Throws what
  /// loss() throws.
  at::Tensor forward(Model& model, const MicroBatch& batch) const;

  /// Runs the backward pass, which adds the gradients of `loss`, multiplied by `weight`, to the gradients of the
  /// parameters. Returns the loss detached from the autograd graph.
  at::Tensor backward(at::Tensor loss, double weight);

  /// Computes both passes of one micro-batch and returns its loss, detached from the autograd graph. The device may
  /// repeat passes that it has recorded (WorkRecorder), so this function is for strategies that do nothing during the
  /// backward pass.
  at::Tensor forward_and_backward(Model& model, const MicroBatch& batch);

  // The following functions are for strategies that run the forward pass in parts, and so cannot call forward().

  /// Returns a guard, which must exist while a part of the forward pass of a training step runs.
  ForwardScope training() const { return ForwardScope(options_.device, options_.autocast, options_.generator); }
  /// Returns a guard like training(), but for a forward pass that draws no random numbers, such as that of an
  /// evaluation.
  ForwardScope evaluation() const { return ForwardScope(options_.device, options_.autocast, nullptr); }

  /// Converts the `loss` that a model returned into the loss to pass to backward(): a 16-bit loss becomes float32. With
  /// OnNan::kStop, throws kInvalidArgument if the loss is not finite, naming the step and the batch; a loss that is not
  /// on the CPU is checked later, by check_losses(). With OnNan::kSkip, a loss that is not finite makes all gradients
  /// NaN, so that the step is skipped.
  at::Tensor loss(at::Tensor loss, const MicroBatch& batch) const;

  /// Checks the losses that loss() left unchecked, and throws what loss() throws. Called at the end of a step. If the
  /// device reads losses later (Options::read_later), those of the newest step are left for the next call, because
  /// waiting for them would leave the device without work.
  void check_losses();
  /// Checks all losses that have not been checked yet. Called at the end of every `train` order.
  void check_all_losses();

 private:
  /// A loss on a device, with the step and the batch for the error message.
  struct Unchecked {
    std::function<double()> read;  ///< Waits for the value, and returns it.
    bool is_read_later;            ///< True if `read` does not wait for work that was submitted after the loss.
    std::uint64_t step, epoch, index;
    std::string split;
  };
  at::Tensor differentiable(at::Tensor loss) const;
  void watch(const at::Tensor& loss, const MicroBatch& batch) const;
  void check(double value, const Unchecked& place) const;
  const at::Tensor& weight_tensor(double weight, const at::TensorOptions& options);

  Options options_;
  /// The weight of the most recent backward pass, as a 0-dimensional tensor.
  at::Tensor weight_;
  double weight_value_ = 0;                        ///< The value of `weight_`.
  std::optional<at::TensorOptions> loss_options_;  ///< Type and device of the losses, once a recorder needs them.
  mutable std::vector<Unchecked> unchecked_;
};

}  // namespace trainyard
