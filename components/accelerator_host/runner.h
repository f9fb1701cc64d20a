// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerators/accelerator.h"
#include "components/accelerator_host/device_batches.h"
#include "components/accelerator_host/evaluation_mode.h"
#include "components/accelerator_host/evaluator.h"
#include "components/accelerator_host/gradient_scaling.h"
#include "components/accelerator_host/random_numbers.h"
#include "components/accelerator_host/saved_parts.h"
#include "core/component/context.h"
#include "messages/batch.h"
#include "models/model.h"
#include "strategies/strategy.h"
#include "tensors/arena.h"
#include "tensors/precision.h"

namespace trainyard {

/// The accelerator host's parameters that affect the computation.
struct RunnerOptions {
  PluginSpec accelerator;
  PluginSpec strategy;
  PluginSpec model;
  PluginSpec collective;
  std::chrono::milliseconds collective_timeout{60'000};
  std::string devices;
  Precision precision;
  bool deterministic = false;
  bool detect_anomaly = false;
  OnNan on_nan = OnNan::kStop;
  LossScaling loss_scaling;  ///< Used in 16-mixed only.
  bool timeline = false;     ///< True to record a timeline (StepTrace).
};

/// The part of the accelerator host that computes. It creates and connects the device, the model, the arena (the memory
/// with all parameters and gradients), the group of all ranks, and the strategy. It has no inputs or outputs.
/// Everything runs on the caller's thread.
///
/// Call build() and then start(). Each step then consists of train() for every micro-batch, end_step() and, unless the
/// step is skipped, begin_update() and end_update().
class Runner {
 public:
  /// Makes the accelerator, the model and the strategy, and checks that they work together. Throws kNotFound for an
  /// unknown plugin, kUnsupported for a combination that does not work, and kInvalidArgument for a wrong parameter.
  Runner(const RunnerOptions& options, const ComponentContext& context);

  /// Claims the device, builds the model for this dataset, connects to the other ranks, and moves the model's
  /// parameters into flat blocks of memory (the arena). Throws kTimeout, naming the ranks that did not connect, and
  /// kShapeMismatch if the ranks have different models.
  void build(const DatasetInfo& data);

  /// Makes all ranks start from the same parameters, and restores the states that restore() has kept. If the run
  /// resumes, the checkpoint writer must already have restored the parameters.
  void start();

  /// Begins to copy to the device a batch that will be needed later. Does nothing if the device has no separate memory.
  void prefetch(const Batch& batch) { batches_->prefetch(batch); }

  /// Runs the forward and the backward pass of one micro-batch of step `step`, and adds the gradients, multiplied by
  /// `weight`, to the rank's gradients. `last` is true for the last micro-batch of the step. Returns the loss. If the
  /// batch has no samples, the rank only takes part in the communication, and the loss is an undefined tensor. With
  /// `detect_anomaly`, or with OnNan::kStop if the loss is not scaled, throws kInvalidArgument for a loss that is not
  /// finite. On some devices, the loss is checked later, by end_step() or check_all_losses().
  at::Tensor train(const Batch& batch, std::uint64_t step, double weight, bool last);

  /// Completes the gradients of a step: waits until they are reduced over the ranks, checks for overflow if the loss is
  /// scaled, clips them as `clipping` says, and makes them visible to the optimizer. Throws what
  /// GradientScaling::end_step throws, and what train() throws for a loss that is not finite. If the step is not
  /// skipped and `look` is not empty, calls `look`, which can read the gradients in Arena::own_gradients().
  StepResult end_step(const Clipping& clipping, const std::function<void(const StepResult&)>& look = {});

  /// Discards the accumulated gradients of a step that will not be completed.
  void give_up_step() { strategy_->drop_step(); }

  /// Call this function before the gradients of step `step` are passed to the optimizer. Returns the number of the
  /// update that the optimizer will make, or 0 if the optimizer must not get the gradients, because this rank makes no
  /// update in this step.
  std::uint64_t begin_update(std::uint64_t step);

  /// Call this function when the optimizer has changed the parameters, or directly after begin_update() has returned 0.
  void end_update(std::uint64_t step);

  /// Returns the object that evaluates the model and makes predictions. It exists after build().
  Evaluator& evaluator() { return *evaluator_; }

  /// Throws kInvalidArgument if a parameter of the model is not finite, unless OnNan::kIgnore is set. `step` is the
  /// last step, for the error text.
  void check_parameters(std::uint64_t step) const;

  /// Throws kInvalidArgument if a loss that train() and end_step() have left unchecked is not finite; see train().
  /// Called at the end of every order to train.
  void check_all_losses() { passes_->check_all_losses(); }

  /// Prepares the rank's memory for a copy by the checkpoint writer; see Strategy::begin_snapshot.
  void begin_snapshot() { strategy_->begin_snapshot(); }
  /// Returns the copies to host memory that begin_snapshot() has begun and that continue after it has returned; null if
  /// there are none.
  SnapshotCopies* snapshot_copies() { return arena_->snapshot_copies(); }

  /// Brings the parameters and buffers in host memory up to date, for components that read them. Does nothing if the
  /// device has no separate memory.
  void publish_to_readers() { arena_->publish_to_readers(); }

  /// Returns the state of this rank that a checkpoint stores besides the parameters: the state of the random numbers,
  /// the model, the strategy and the loss scaler, and the rank's own buffers.
  std::vector<SavedState> states() { return parts_->save(); }
  /// Keeps the states of a checkpoint until start() restores them. Must be called after build(). Returns the names of
  /// the states that this rank uses.
  std::vector<std::string> restore(const RestoredStates& states) { return parts_->keep(states); }
  /// Returns the number of steps that were skipped because gradients were not finite.
  std::uint64_t skipped_steps() const { return scaling_->skipped_steps(); }
  /// Sets the number of skipped steps to `skipped`, the number in the checkpoint from which the run resumes.
  void restore_skipped_steps(std::uint64_t skipped) { scaling_->restore_skipped_steps(skipped); }

  /// Returns values for the training metrics: those of the loss scaling, and those of the strategy, such as memory use.
  std::vector<Scalar> metrics() const;

  /// Writes the timeline to `timeline.rank<N>.json` in the output directory, if one was requested.
  void finish();

  /// Returns true if all ranks get the same batches.
  bool same_data() const { return strategy_->traits().same_data; }
  const Arena& arena() const { return *arena_; }
  /// Returns the device claimed by build().
  ClaimedDevice& device() { return *device_; }
  /// Returns the message that announces the arena. `optimizer_answers` is true if the optimizer announces its state to
  /// the accelerator host. Only then can an optimizer in another process work on the device.
  ArenaInfo arena_info(bool optimizer_answers);
  /// Opens the state of an optimizer in another process, which updates the parameters on the device from now on.
  void adopt(const OptimizerState& state) { arena_->adopt(state); }
  ModelInfo model_info() const;

 private:
  void check_precision() const;
  int device_index() const;
  void make_arena(const DatasetInfo& data);
  void collect_parts();
  std::optional<at::ScalarType> autocast_type() const;
  OnNan on_nan() const;
  WorkRecorder* recorder();
  void warn_unrecorded(const char* reason) const;
  void emulate_half();
  /// Throws kUnsupported if an arena of `arena` bytes and a batch together exceed the memory that the accelerator
  /// allows.
  void check_memory(std::uint64_t arena, const DatasetInfo& data) const;

  RunnerOptions options_;
  ComponentContext context_;
  std::unique_ptr<Accelerator> accelerator_;
  std::unique_ptr<Model> model_;
  std::optional<StepTrace> trace_;

  // These members are made by build().
  std::unique_ptr<ClaimedDevice> device_;
  std::optional<RandomNumbers> random_;
  std::optional<DeviceBatches> batches_;
  std::unique_ptr<Arena> arena_;
  std::optional<Passes> passes_;
  std::optional<GradientScaling> scaling_;

  /// Declared after the arena, and so destroyed before it, because an operation that is still in progress when the run
  /// ends may use the arena's memory.
  std::optional<World> world_;
  /// Declared after the objects that it uses, so that it is destroyed before them.
  std::unique_ptr<Strategy> strategy_;

  // These members are also made by build(), and refer to the members above.
  std::optional<EvaluationMode> mode_;
  std::optional<Evaluator> evaluator_;
  std::optional<SavedParts> parts_;
};

}  // namespace trainyard
