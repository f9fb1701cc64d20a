#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "components/accelerator_host/runner.h"
#include "components/accelerator_host/throughput.h"
#include "core/component/component.h"
#include "messages/arena.h"
#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/metrics.h"
#include "messages/order.h"
#include "messages/prediction.h"
#include "messages/run_state.h"
#include "messages/step.h"
#include "tensors/precision.h"

namespace trainyard {

/// Computes: forward, backward, accumulation and clipping on one device, as the orders say. Holds the model and the
/// arena; the optimizer changes the parameters there between Gradients and Parameters.
///
///     dataset --> [build] --> arena --> optimizer --> parameters(0) --> [ready] --> /model
///     /orders, batches --> [micro-batches] --> gradients --> optimizer --> parameters --> [next step]
///
/// Orders are carried out in turn. Batches beyond the one that is wanted next wait outside, so the loader's credits
/// bound how far it runs ahead.
class AcceleratorHost final : public Component {
 public:
  static constexpr ComponentTraits kTraits{.per_rank = true, .thread = "main"};

  explicit AcceleratorHost(ComponentContext& context) : Component(context, kTraits) {}

 protected:
  void on_configure() override;
  void on_deactivate() override;
  void on_finalize() override;

 private:
  // What is going on between two messages.
  enum class Waiting { kNothing, kSnapshot, kParameters };

  // One for every input.
  void on_dataset(const DatasetInfo& data);
  void on_order(const std::shared_ptr<const Order>& order);
  void on_batch(const std::shared_ptr<const Batch>& batch);
  void on_parameters(const Parameters& message);
  void on_run_state(const RunState& state);
  void on_snapshot_taken(const SnapshotTaken& taken);

  // What happens next.
  void become_ready();
  void proceed();
  bool can_compute() const;
  void regulate_batches();
  void consume(const Batch& batch);
  void finish_order();
  bool stop_if_asked();

  // carry_out.cpp: the orders themselves.
  void carry_out_without_batches(const Order& order);
  void train(const Batch& batch, const Order& order);
  void finish_step();
  void skip_step(const SkippedStep& skipped);
  void send_gradients();
  void finish_update(double learning_rate);
  void end_order_if_complete();
  void evaluate(const Batch& batch, const Order& order);
  void merge_evaluation();
  double weight_of(const Batch& batch) const;
  void predict(const Batch& batch, const Order& order);
  void take_snapshot(const Order& order);
  void send_prediction(Prediction prediction, const Order& order);
  void report_step(double learning_rate);
  void send_metrics(const Order& order, const std::string& stage, RankMetrics said);
  RunnerOptions runner_options() const;

  Parameter<PluginSpec> accelerator_{*this, "accelerator", PluginSpec{"cpu"}, "kind of hardware, or auto",
                                     plugin_kind("accelerator")};
  Parameter<std::string> devices_{*this, "devices", "auto", "a count, a list such as [0, 3], or auto"};
  Parameter<PluginSpec> strategy_{*this, "strategy", PluginSpec{"single_device"}, "how ranks work together, or auto",
                                  plugin_kind("strategy")};
  Parameter<PluginSpec> collective_{*this, "collective", PluginSpec{"auto"}, "how ranks exchange data, or auto",
                                    plugin_kind("collective")};
  Parameter<double> collective_timeout_s_{*this, "collective_timeout_s", 60.0,
                                          "a rank that is silent for longer ends the run", positive() | in_unit("s")};
  Parameter<std::string> precision_{*this, "precision", "32-true", "of parameters and computation",
                                    one_of(precision_names_and_aliases())};
  Parameter<double> loss_scale_{*this, "loss_scale", 65536.0, "16-mixed: factor on the loss of the first step",
                                positive()};
  Parameter<std::int64_t> loss_scale_growth_steps_{*this, "loss_scale_growth_steps", 2000,
                                                   "16-mixed: steps without overflow after which the factor doubles",
                                                   at_least(1) | in_unit("steps")};
  Parameter<PluginSpec> model_{*this, "model", kRequired, "layers and loss", plugin_kind("model")};
  Parameter<double> clip_norm_{*this, "clip_norm", 0.0, "largest L2 norm of all gradients together; 0 = any",
                               at_least(0) | settable()};
  Parameter<double> clip_value_{*this, "clip_value", 0.0, "largest absolute value of a gradient; 0 = any",
                                at_least(0) | settable()};
  Parameter<std::int64_t> log_every_steps_{*this, "log_every_steps", 10, "steps between two training metrics",
                                           at_least(1) | settable() | in_unit("steps")};
  Parameter<bool> log_device_stats_{*this, "log_device_stats", false,
                                    "what the accelerator knows of its memory and use is among the training metrics",
                                    settable()};
  Parameter<bool> timeline_{*this, "timeline", false,
                            "write what is done when into timeline.rank<N>.json, in Chrome's trace format"};
  Parameter<bool> deterministic_{*this, "deterministic", false, "refuse operations that may differ from run to run"};
  Parameter<bool> detect_anomaly_{*this, "detect_anomaly", false,
                                  "stop at the first loss or gradient that is not finite; slow"};

  Input<DatasetInfo> dataset_{*this, "dataset", "sizes, before the first batch",
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
  Input<RunState> run_state_{*this,
                             "run_state",
                             "where the run begins",
                             [this](const auto& message) { on_run_state(*message); },
                             {.optional = true, .topic = "/run_state"}};
  Input<SnapshotTaken> snapshot_taken_{*this,
                                       "snapshot_taken",
                                       "the arena has been copied",
                                       [this](const auto& message) { on_snapshot_taken(*message); },
                                       {.optional = true}};

  Output<ArenaInfo> arena_{*this, "arena", "where parameters and gradients are"};
  Output<Gradients> gradients_{*this, "gradients", "gradients are complete"};
  Output<ModelInfo> model_info_{*this, "model", "ready to train", {.topic = "/model"}};
  Output<OrderDone> order_done_{*this, "order_done", "answers to orders", {.topic = "/order_done"}};
  Output<Snapshot> snapshot_{*this, "snapshot", "copy the arena now"};
  Output<Metrics> metrics_{*this, "metrics", "loss, learning rate, throughput", {.topic = "/metrics"}};
  Output<RankMetrics> rank_metrics_{
      *this, "rank_metrics", "instead, in a run of several ranks", {.topic = "/rank_metrics"}};
  Output<Prediction> predictions_{*this, "predictions", "what the model says", {.topic = "/predictions"}};

  std::unique_ptr<Runner> runner_;  ///< Made when configured, built when the dataset is known.
  DatasetInfo data_;

  // The three things to wait for before the first order: both of these, then ready_.
  bool optimizer_ready_ = false;
  bool run_state_known_ = false;
  bool ready_ = false;
  bool ending_ = false;  ///< Deactivated: what still comes is dropped.

  std::deque<std::shared_ptr<const Order>> queue_;  ///< The first one is being carried out.
  std::shared_ptr<const Batch> next_batch_;         ///< Taken in, not used yet.
  std::uint64_t finished_order_ = 0;                ///< The last one that was answered; ids only grow.
  Waiting waiting_ = Waiting::kNothing;
  /// Copies of the arena that the checkpoint writer still has to make: one that is asked for and one that is due may
  /// come together.
  std::uint32_t snapshots_pending_ = 0;

  // Progress of the order at the front.
  OrderDone progress_;
  std::uint64_t micro_batch_ = 0;                                       ///< Done of the present step.
  std::uint64_t micro_batches_ = 0;                                     ///< That the present step will have.
  std::vector<std::pair<double, std::vector<NamedMetric>>> evaluated_;  ///< Samples and means of every batch.

  // Progress of the run.
  std::uint64_t step_ = 0;
  std::uint64_t update_ = 0;        ///< Number that the present step's update has for the optimizer; 0 = none.
  std::uint64_t samples_ = 0;       ///< Of complete steps.
  std::uint64_t step_samples_ = 0;  ///< Of the present step.
  std::uint64_t last_samples_ = 0;  ///< Of the last complete step.
  std::uint64_t epoch_ = 0;
  LoaderCursor cursor_;
  StepResult result_;               ///< Of the present step, until the optimizer has it.
  bool reporting_ = false;          ///< The present step ends with metrics.
  std::vector<at::Tensor> losses_;  ///< Of the present step's micro-batches that had samples, if it will be reported.
  Throughput throughput_;           ///< Since the last report.
};

}  // namespace trainyard
