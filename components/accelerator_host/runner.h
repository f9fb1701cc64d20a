#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerators/accelerator.h"
#include "components/accelerator_host/batch_views.h"
#include "components/accelerator_host/loss_scaler.h"
#include "core/component/context.h"
#include "messages/batch.h"
#include "models/model.h"
#include "strategies/step_trace.h"
#include "strategies/strategy.h"
#include "tensors/arena.h"
#include "tensors/half_emulation.h"
#include "tensors/precision.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// What the accelerator host's parameters say about the computation.
struct RunnerOptions {
  PluginSpec accelerator;
  PluginSpec strategy;
  PluginSpec model;
  PluginSpec collective;
  std::chrono::milliseconds collective_timeout{60'000};
  std::string devices;
  std::string precision;
  bool deterministic = false;
  bool detect_anomaly = false;
  LossScaling loss_scaling;  ///< Looked at in 16-mixed only.
  bool timeline = false;     ///< Record what is done when.
};

/// How gradients are bounded before the optimizer sees them; 0 = not.
struct Clipping {
  double norm = 0;
  double value = 0;
};

/// A step that nobody may apply, because its gradients overflowed at the loss scale that it was computed with.
struct SkippedStep {
  double loss_scale = 1;       ///< The one at which gradients overflowed.
  double next_loss_scale = 1;  ///< The one of the next step.
  std::uint64_t skipped = 0;   ///< Steps that were skipped since the run began.
};

/// How a step ended: the same on every rank.
struct StepResult {
  double scale = 1;  ///< The optimizer multiplies gradients by it: clipping, and the inverse of the loss scale.
  double norm = 0;   ///< Of all gradients, before clipping and without the loss scale; 0 = not computed.
  std::optional<SkippedStep> skipped;  ///< Set if there is no update to make; the gradients are forgotten already.
};

/// The computing half of the accelerator host: accelerator, strategy, model and arena. Knows no messages' order and
/// sends nothing; everything runs on the caller's thread.
class Runner {
 public:
  /// Makes the plugins and checks that they fit each other. Throws kUnsupported, kNotFound or kInvalidArgument.
  Runner(const RunnerOptions& options, const ComponentContext& context);

  /// Claims the device, builds the model for this data, moves it into the arena, meets the other ranks. Throws kTimeout
  /// naming ranks that do not come, kShapeMismatch if they have another model.
  void build(const DatasetInfo& data);

  /// All ranks start from the same parameters; to be called when a checkpoint, if any, has been restored.
  void start();

  /// Forward and backward of one micro-batch; gradients times `weight` are added to the arena. Returns the loss, or an
  /// undefined tensor for a batch of zero rows, with which the rank only takes part in what the others do.
  /// Throws kInvalidArgument if anomalies are looked for and the loss is not finite.
  /// `last`: the step is complete after it.
  at::Tensor train(const Batch& batch, double weight, bool last);

  /// Begins to move a batch that will be wanted later to a device with memory of its own; others have it already.
  void prefetch(const Batch& batch);

  /// Ends a step's accumulation: reduces over ranks, looks for overflow where the loss is scaled, clips, then lets the
  /// optimizer see the gradients. Throws kInvalidArgument if no loss scale is small enough.
  StepResult end_step(const Clipping& clipping);

  /// Forgets what was accumulated of a step that is given up before its end.
  void give_up_step();

  /// The optimizer will be given the gradients of this step: the number of the update for it; 0: it gets none.
  std::uint64_t begin_update(std::uint64_t step) { return strategy_->begin_update(step); }

  /// The optimizer has changed the parameters, or gets none of this step.
  void end_update(std::uint64_t step);

  /// Around all batches of an evaluation or prediction; on every rank, whatever it has of them.
  void begin_evaluation();
  void end_evaluation();

  /// Of a batch of zero rows there are no metrics and no prediction; the rank takes part in what the others do.
  std::vector<NamedMetric> evaluate(const Batch& batch);
  std::optional<Prediction> predict(const Batch& batch);
  /// All ranks are given the same batches.
  bool same_data() const { return strategy_->traits().same_data; }
  /// Something generated from nothing.
  Prediction generate(const std::string& split);

  /// For the training metrics: loss scaling, what the strategy holds and sends.
  std::vector<Scalar> metrics() const;

  /// Writes the timeline, if one was asked for.
  void finish();

  /// What a checkpoint keeps of the computation beside parameters and random numbers; and its inverse, which leaves out
  /// what is missing.
  std::vector<Scalar> state() const { return scaler_ ? scaler_->state() : std::vector<Scalar>{}; }
  void restore(const std::vector<Scalar>& state) {
    if (scaler_) scaler_->restore(state);
  }

  /// Lets the checkpoint writer see what the optimizer does not change.
  void begin_snapshot();

  /// Of the generators that forward passes draw from, for a checkpoint; and its inverse. A checkpoint has that of rank
  /// 0: others begin new sequences, which depend on the step they resume at.
  std::vector<std::uint8_t> rng_state() const;
  void set_rng_state(const std::vector<std::uint8_t>& state, std::uint64_t step);

  const Arena& arena() const { return *arena_; }
  /// The device that `build` has claimed.
  ClaimedDevice& device() { return *device_; }
  ArenaInfo arena_info() const;
  ModelInfo model_info() const;

 private:
  /// A batch that is on its way to the device; known by its place in the run.
  struct Prefetched {
    std::uint64_t order, epoch, index;
    std::vector<at::Tensor> tensors;
    bool is(const Batch& batch) const { return order == batch.order && epoch == batch.epoch && index == batch.index; }
  };

  ModelBatch model_batch(const Batch& batch);
  std::vector<at::Tensor> move_to_device(const Batch& batch);
  void at_moment(const std::function<void()>& moment);
  void set_training(bool training);
  void check_fit() const;
  void build_model(const DatasetInfo& data);
  void make_arena();
  void join_world();
  void check_same_model() const;
  std::unique_ptr<Collective> make_group(const std::string& name, const std::vector<std::uint32_t>& ranks) const;
  at::Tensor checked(at::Tensor loss) const;
  double gradient_norm() const;
  void apply_precision();
  bool scaled_gradients_overflow();
  SkippedStep skip_step(double loss_scale);
  std::optional<at::ScalarType> autocast_type() const;
  ForwardScope forward_scope(RankGenerator* generator = nullptr) const;
  void check_memory(const DatasetInfo& data) const;
  DeviceMemory own_memory() const;
  void check_finite(const at::Tensor& loss, const Batch& batch) const;

  RunnerOptions options_;
  Precision precision_;
  ComponentContext context_;
  std::unique_ptr<Accelerator> accelerator_;
  std::unique_ptr<ClaimedDevice> device_;  ///< Null until `build` claims it.
  std::unique_ptr<Model> model_;
  std::unique_ptr<Arena> arena_;
  std::optional<StepTrace> trace_;
  std::unique_ptr<Collective> world_;   ///< Null for a single rank.
  std::unique_ptr<Strategy> strategy_;  ///< After what it works on, so that it ends before.
  const Batch* batch_ = nullptr;        ///< The one that is computed, for errors.
  std::optional<LossScaler> scaler_;
  std::optional<HalfEmulation> half_;  ///< 16-mixed where LibTorch cannot compute in float16.
  RankGenerator generator_;
  BatchViews views_;
  std::optional<Prefetched> prefetched_;
  int device_index_ = 0;
  bool has_own_memory_ = false;  ///< The device has; kernels do not work on the host's.
  bool clipping_allowed_ = true;
  bool training_ = true;
};

}  // namespace trainyard
