// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "components/accelerator_host/active_order.h"
#include "components/accelerator_host/order_queue.h"
#include "components/accelerator_host/rank_pause.h"
#include "components/accelerator_host/runner.h"
#include "components/accelerator_host/workplace.h"
#include "core/component/component.h"
#include "core/component/gate.h"
#include "core/component/state_port.h"
#include "messages/arena.h"
#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/histogram.h"
#include "messages/metrics.h"
#include "messages/order.h"
#include "messages/prediction.h"
#include "messages/run_state.h"
#include "messages/step.h"
#include "messages/validation_results.h"
#include "tensors/precision.h"

namespace trainyard {

/// The component that computes on one device. It carries out the orders of the strategy manager (the component that
/// directs the run), such as "train 32 batches" or "evaluate 20 batches": it runs forward and backward passes, and
/// accumulates and clips gradients. It owns the model and the arena, the memory with all parameters and gradients. When
/// the gradients of a step are complete, it sends Gradients to the optimizer, which changes the parameters in the arena
/// and answers with Parameters.
///
///     dataset --> [build] --> arena --> optimizer --> optimizer_state, parameters(0) --> [ready] --> /model
///     /orders, batches --> [micro-batches] --> gradients --> optimizer --> parameters --> [next step]
///
/// Work in brackets is done by this component. `parameters(0)` is the message by which the optimizer says that it is
/// ready, before the first step.
///
/// Orders are carried out one after another, each by a separate object (active_order.h). This class passes incoming
/// messages to the current order and decides which order is next.
class AcceleratorHost final : public Component {
 public:
  /// `memory_bytes` is the memory that LibTorch uses in a process before there is a model.
  static inline const ComponentTraits kTraits{
      .per_rank = true, .thread = "main", .restartable = false, .memory_bytes = 56ull << 20};

  explicit AcceleratorHost(ComponentContext& context) : Component(context, kTraits) {}

 protected:
  void on_configure() override;
  void on_deactivate() override;
  void on_finalize() override;

 private:
  // The message handlers, one for each input.
  void on_dataset(const DatasetInfo& data);
  void on_order(const std::shared_ptr<const Order>& order);
  void on_batch(const std::shared_ptr<const Batch>& batch);
  void on_parameters(const Parameters& message);
  void on_optimizer_state(const OptimizerState& state);
  void on_run_state(const RunState& state);
  void on_snapshot_taken();
  void on_arena_read(const ArenaRead& answer, const MessageInfo& info);

  // These functions decide what happens next.
  void become_ready();
  void proceed();
  void use_free_arena();
  host::Snapshots::RunLater run_later();
  bool can_compute() const;
  bool begin_order();
  bool consume_batch();
  bool stop_if_asked();
  bool pause_if_asked();
  void finish_order_if_complete();

  RunnerOptions runner_options() const;

  Parameter<PluginSpec> accelerator_{*this, "accelerator", PluginSpec{"cpu"},
                                     "the accelerator, which is a kind of hardware, or auto",
                                     plugin_kind("accelerator")};
  Parameter<std::string> devices_{*this, "devices", "1",
                                  "a count, a list such as [0, 3], auto (one), or -1 (all of the accelerator)"};
  Parameter<PluginSpec> strategy_{*this, "strategy", PluginSpec{"single_device"}, "how ranks work together, or auto",
                                  plugin_kind("strategy")};
  Parameter<PluginSpec> collective_{*this, "collective", PluginSpec{"auto"}, "how ranks exchange data, or auto",
                                    plugin_kind("collective")};
  Parameter<double> collective_timeout_s_{*this, "collective_timeout_s", 60.0,
                                          "how long a rank may be silent before the run ends",
                                          positive() | in_unit("s")};
  // The planner has replaced "auto" when a component starts.
  Parameter<std::string> precision_{*this, "precision", "32-true",
                                    "precision of the parameters and of the computation; in a launch file also auto, "
                                    "which is what the accelerator recommends",
                                    one_of(precision_names_and_aliases())};
  Parameter<double> loss_scale_{*this, "loss_scale", 65536.0, "16-mixed: factor on the loss of the first step",
                                positive()};
  Parameter<std::int64_t> loss_scale_growth_steps_{*this, "loss_scale_growth_steps", 2000,
                                                   "16-mixed: steps without overflow after which the factor doubles",
                                                   at_least(1) | in_unit("steps")};
  Parameter<PluginSpec> model_{*this, "model", kRequired, "layers and loss", plugin_kind("model")};
  Parameter<double> clip_norm_{*this, "clip_norm", 0.0, "limit of the L2 norm of all gradients together; 0 = no limit",
                               at_least(0) | settable()};
  Parameter<double> clip_value_{*this, "clip_value", 0.0, "limit of the absolute value of each gradient; 0 = no limit",
                                at_least(0) | settable()};
  Parameter<std::int64_t> log_every_steps_{*this, "log_every_steps", 10,
                                           "steps between two reports of training metrics",
                                           at_least(1) | settable() | in_unit("steps")};
  Parameter<bool> log_device_stats_{*this, "log_device_stats", false,
                                    "add the accelerator's memory and utilization to the training metrics", settable()};
  Parameter<std::int64_t> histograms_every_steps_{
      *this, "histograms_every_steps", 0,
      "steps between two reports of histograms of weights, gradients and activations; 0 = none",
      at_least(0) | settable() | in_unit("steps")};
  Parameter<std::int64_t> samples_per_validation_{
      *this, "samples_per_validation", 0,
      "samples that a classifier shows with its predictions, or texts that a model generates, in every validation",
      between(0, SampleResults::kMaxSamples)};
  Parameter<bool> confusion_matrix_{*this, "confusion_matrix", false,
                                    "count in every validation which classes are mistaken for which"};
  Parameter<bool> timeline_{*this, "timeline", false,
                            "write a timeline of the host's work to timeline.rank<N>.json, in Chrome's trace format"};
  Parameter<bool> deterministic_{*this, "deterministic", false,
                                 "refuse operations whose results can differ from run to run"};
  Parameter<bool> detect_anomaly_{*this, "detect_anomaly", false,
                                  "stop at the first loss or gradient that is not finite; slow"};
  Parameter<OnNan> on_nan_{
      *this, "on_nan", OnNan::kStop,
      "for a loss that is not finite: end the run (stop), skip the step (skip), or continue (ignore)"};

  Input<DatasetInfo> dataset_{*this, "dataset", "sizes of the data, sent before the first batch",
                              [this](const auto& message) { on_dataset(*message); }};
  Input<Order> orders_{
      *this, "orders", "what to do", [this](const auto& message) { on_order(message); }, {.topic = "/orders"}};
  Input<Batch> batches_{*this,
                        "batches",
                        "micro-batches of the orders",
                        [this](const auto& message) { on_batch(message); },
                        {.window_messages = 4}};
  Input<Parameters> parameters_{*this, "parameters", "the optimizer is done",
                                [this](const auto& message) { on_parameters(*message); }};
  Input<OptimizerState> optimizer_state_{*this,
                                         "optimizer_state",
                                         "where the optimizer's state is, if the optimizer works on the device",
                                         [this](const auto& message) { on_optimizer_state(*message); },
                                         {.optional = true}};
  Input<RunState> run_state_{*this,
                             "run_state",
                             "where the run begins",
                             [this](const auto& message) { on_run_state(*message); },
                             {.optional = true, .topic = "/run_state"}};
  Input<SnapshotTaken> snapshot_taken_{*this,
                                       "snapshot_taken",
                                       "the arena has been copied",
                                       [this](const auto&) { on_snapshot_taken(); },
                                       {.optional = true}};

  Input<ArenaRead> arena_read_{*this,
                               "arena_read",
                               "a reader of the arena is done",
                               [this](const auto& message, const MessageInfo& info) { on_arena_read(*message, info); },
                               {.optional = true}};

  Output<ArenaInfo> arena_{*this, "arena", "where parameters and gradients are"};
  Output<ArenaReadable> arena_readable_{*this, "arena_readable",
                                        "the arena holds a step's result; the next update waits for the readers"};
  Output<Gradients> gradients_{*this, "gradients", "gradients are complete"};
  Output<ModelInfo> model_info_{*this, "model", "ready to train", {.topic = "/model", .latched = true}};
  Output<OrderDone> order_done_{*this, "order_done", "answers to orders", {.topic = "/order_done"}};
  Output<Snapshot> snapshot_{*this, "snapshot", "copy the arena now"};
  Output<Metrics> metrics_{*this, "metrics", "loss, learning rate, throughput", {.topic = "/metrics"}};
  Output<RankMetrics> rank_metrics_{
      *this, "rank_metrics", "the metrics of this rank, in a run with several ranks", {.topic = "/rank_metrics"}};
  Output<Prediction> predictions_{*this, "predictions", "predictions of the model", {.topic = "/predictions"}};
  Output<Histograms> histograms_{
      *this, "histograms", "histograms of weights, gradients and activations", {.topic = "/histograms"}};
  Output<Confusion> confusion_{
      *this, "confusion", "which classes were mistaken for which in an evaluation", {.topic = "/confusion"}};
  Output<SampleResults> samples_{
      *this, "samples", "samples of an evaluation with their predictions", {.topic = "/samples"}};

  // Restores this rank's state from a checkpoint. The state is saved through the message Snapshot, so that it belongs
  // to the same step as the parameters.
  StatePort state_{*this, [this](const RestoredStates& states) { return runner_->restore(states); }};

  // The first order must wait until the optimizer is ready, it is known where its state is, and the checkpoint writer
  // has restored the parameters from a checkpoint, if there is one.
  Gate ready_{[this] { become_ready(); }};
  Gate::Need optimizer_ready_{ready_, parameters_};
  Gate::Need state_known_{ready_, optimizer_state_};
  Gate::Need restored_{ready_, run_state_};

  // Set by on_configure(). Runner::build() is called when the message DatasetInfo arrives.
  std::unique_ptr<Runner> runner_;
  std::optional<host::Workplace> workplace_;

  /// Set when the model has been built. The strategy manager orders no pause before that.
  std::optional<host::RankPause> pause_;
  host::OrderQueue queue_{batches_};
  std::unique_ptr<host::ActiveOrder> order_;  ///< The order that is being carried out.
  /// The trace of the last batch used: the number that is passed on in all messages that the batch causes.
  std::uint64_t trace_ = 0;
  /// Tells the tasks of run_later() whether this component still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard
