// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "components/strategy_manager/announcements.h"
#include "components/strategy_manager/changed_settings.h"
#include "components/strategy_manager/data_facts.h"
#include "components/strategy_manager/metrics_merger.h"
#include "components/strategy_manager/pause_requests.h"
#include "components/strategy_manager/run_agenda.h"
#include "components/strategy_manager/services.h"
#include "core/component/component.h"
#include "core/component/state_port.h"
#include "core/loop/event_loop.h"
#include "messages/arena.h"
#include "messages/dataset_info.h"
#include "messages/metrics.h"
#include "messages/order.h"
#include "messages/run_state.h"

namespace trainyard {

/// The component that directs the run by sending orders to the other components, such as "train 32 batches", "evaluate"
/// or "save a checkpoint". RunAgenda decides what to do next and when the run is over. This class sends the agenda's
/// orders and passes the answers to it.
///
///     dataset, /model, /run_state --> [plan] --> /orders --> hosts, loaders
///     /order_done, /checkpoints ----> [what next] --> finish_run
///     /rank_metrics ----------------> [merge] --> /metrics
///
/// Many parameters have the same names and meanings as in Lightning. A step is one update of the optimizer, and a batch
/// is one micro-batch.
///
/// Services  stop, checkpoint, validate, pause, go_on
/// Errors    kInvalidArgument (a run without a limit, ...), kNotFound (a split), kInternal (answers that fit no order)
class StrategyManager final : public Component {
 public:
  static inline const ComponentTraits kTraits{.restartable = false, .checks_parameters = true};

  explicit StrategyManager(ComponentContext& context) : Component(context, kTraits) {}

  /// Throws kInvalidArgument if no parameter limits the run, or if parameters contradict each other.
  void check_parameters() const override { manager::resolved(read_settings()); }

 protected:
  void on_configure() override;
  void on_deactivate() override;

 private:
  void on_dataset(const DatasetInfo& info);
  void on_model(const ModelInfo& info);
  void on_run_state(const RunState& state);
  void on_order_done(const OrderDone& done);
  void on_checkpoint(const CheckpointDone& done);
  void on_rank_metrics(const RankMetrics& metrics);

  // The services. They are called on the component's event loop, like message handlers.
  RunReply stop(const RunRequest& request);
  RunReply checkpoint();
  RunReply validate();
  void pause(std::function<void(const RunReply&)> answer);
  RunReply go_on(const GoOnRequest& request);

  void begin();
  void start_clock();
  // Sends all orders that can be sent now, and ends the run when nothing is left to do. Called after every event.
  void proceed();
  void finish(const std::string& reason, bool success);
  // If all ranks wait, answers the pending calls of the service `pause`.
  void report_rest();
  void send_merged_metrics();
  // Returns the values of the parameters as plain data.
  manager::RunSettings read_settings() const;

  Output<Order> orders_{*this, "orders", "what to do next", {.topic = "/orders"}};
  Input<DatasetInfo> dataset_{
      *this, "dataset", "splits and their sizes", [this](const auto& m) { on_dataset(*m); }, {.every_rank = true}};
  Input<ModelInfo> model_{
      *this, "model", "an accelerator host is ready", [this](const auto& m) { on_model(*m); }, {.topic = "/model"}};
  Input<RunState> run_state_{*this,
                             "run_state",
                             "where the run begins",
                             [this](const auto& m) { on_run_state(*m); },
                             {.optional = true, .topic = "/run_state"}};
  Input<OrderDone> order_done_{
      *this, "order_done", "answers to orders", [this](const auto& m) { on_order_done(*m); }, {.topic = "/order_done"}};
  Input<CheckpointDone> checkpoints_{*this,
                                     "checkpoints",
                                     "checkpoints on disk, or why not",
                                     [this](const auto& m) { on_checkpoint(*m); },
                                     {.optional = true, .topic = "/checkpoints"}};
  Input<RankMetrics> rank_metrics_{*this,
                                   "rank_metrics",
                                   "numbers of one rank of several",
                                   [this](const auto& m) { on_rank_metrics(*m); },
                                   {.optional = true, .topic = "/rank_metrics"}};
  Output<Metrics> metrics_{*this, "metrics", "numbers of all ranks together", {.topic = "/metrics"}};
  // Restores the strategy manager's state from a checkpoint. The state is saved through the order to save a checkpoint,
  // so that it belongs to the same moment.
  StatePort state_{*this, [this](const RestoredStates& restored) {
                     announced_.add(restored);
                     return std::vector<std::string>{manager::Validation::kState, manager::kDataState};
                   }};
  Service<RunRequest, RunReply> stop_{*this, "stop", "end the run after this step, with a checkpoint",
                                      [this](const RunRequest& request) { return stop(request); }};
  Service<RunRequest, RunReply> checkpoint_{*this, "checkpoint", "save as soon as possible",
                                            [this](const RunRequest&) { return checkpoint(); }};
  Service<RunRequest, RunReply> validate_{*this, "validate", "validate as soon as possible",
                                          [this](const RunRequest&) { return validate(); }};
  DeferredService<RunRequest, RunReply> pause_{
      *this, "pause", "make all ranks wait after a step; answers when all ranks wait, and lasts until go_on",
      [this](const RunRequest&, auto answer) { pause(std::move(answer)); }};
  Service<GoOnRequest, RunReply> go_on_{*this, "go_on", "end a pause; each call of pause needs one call of go_on",
                                        [this](const GoOnRequest& request) { return go_on(request); }};

  Parameter<manager::RunMode> mode_{*this, "mode", manager::RunMode::kFit, "mode of the run"};
  Parameter<std::int64_t> max_steps_{*this, "max_steps", -1, "steps of the run; -1 = no limit",
                                     at_least(-1) | in_unit("steps")};
  Parameter<std::int64_t> max_epochs_{*this, "max_epochs", -1, "epochs of the run; -1 = no limit",
                                      between(-1, 1e9) | in_unit("epochs")};
  Parameter<double> max_time_s_{*this, "max_time_s", 0, "time of the run; 0 = no limit",
                                between(0, 1e9) | in_unit("s")};
  Parameter<std::int64_t> stop_at_step_{*this, "stop_at_step", 0,
                                        "end training early, after this step of the run; unlike max_steps, it does "
                                        "not change learning-rate schedules; 0 = off",
                                        at_least(0) | in_unit("steps")};
  Parameter<std::int64_t> accumulate_grad_batches_{*this, "accumulate_grad_batches", 1,
                                                   "number of batches whose gradients make one step",
                                                   between(1, 1e9) | in_unit("batches")};
  Parameter<std::int64_t> limit_train_batches_{*this, "limit_train_batches", -1, "training batches per epoch; -1 = all",
                                               at_least(-1) | in_unit("batches")};
  Parameter<std::int64_t> limit_val_batches_{*this, "limit_val_batches", -1,
                                             "batches per split in a validation; -1 = all, 0 = none",
                                             at_least(-1) | in_unit("batches")};
  Parameter<std::int64_t> limit_test_batches_{*this, "limit_test_batches", -1, "batches in mode test; -1 = all",
                                              at_least(-1) | in_unit("batches")};
  Parameter<std::int64_t> limit_predict_batches_{
      *this, "limit_predict_batches", -1, "batches in mode predict; -1 = all", at_least(-1) | in_unit("batches")};
  Parameter<std::int64_t> overfit_batches_{*this, "overfit_batches", 0,
                                           "train on this many batches again and again; 0 = off",
                                           at_least(0) | in_unit("batches")};
  Parameter<bool> fast_dev_run_{*this, "fast_dev_run", false, "one batch of everything, no checkpoints"};

  Parameter<std::int64_t> validate_every_steps_{*this, "validate_every_steps", 0, "0 = never",
                                                at_least(0) | in_unit("steps")};
  Parameter<std::int64_t> validate_every_epochs_{*this, "validate_every_epochs", -1,
                                                 "0 = never; -1 = every epoch, unless validate_every_steps is given",
                                                 at_least(-1) | in_unit("epochs")};
  Parameter<std::int64_t> num_sanity_val_steps_{*this, "num_sanity_val_steps", 0,
                                                "validation batches that are tried before training; 0 = none",
                                                at_least(0) | in_unit("batches")};
  Parameter<std::vector<std::string>> evaluate_splits_{*this, "evaluate_splits", std::vector<std::string>{"validate"},
                                                       "splits on which a validation computes metrics"};
  Parameter<bool> evaluate_at_start_{*this, "evaluate_at_start", false, "validate before the first step"};
  Parameter<bool> predict_at_end_{*this, "predict_at_end", false, "let the model generate output after training"};
  Parameter<std::string> predict_split_{*this, "predict_split", "test",
                                        "the split of mode predict; empty = the model generates output without input"};

  Parameter<std::int64_t> checkpoint_every_steps_{*this, "checkpoint_every_steps", 0, "0 = never",
                                                  at_least(0) | in_unit("steps")};
  Parameter<std::int64_t> checkpoint_every_epochs_{*this, "checkpoint_every_epochs", 0, "0 = never",
                                                   at_least(0) | in_unit("epochs")};
  Parameter<bool> checkpoint_after_validation_{*this, "checkpoint_after_validation", true,
                                               "save a checkpoint after every validation, with its metrics"};
  Parameter<bool> checkpoint_at_end_{*this, "checkpoint_at_end", true, "save a checkpoint at the end of training"};

  Parameter<std::string> monitor_{*this, "monitor", "loss", "the validation metric that early stopping watches"};
  Parameter<Better> monitor_mode_{*this, "monitor_mode", Better::kSmaller,
                                  "whether a small (min) or a large (max) value is good"};
  Parameter<std::int64_t> early_stopping_patience_{*this, "early_stopping_patience", 0,
                                                   "stop after this many validations without improvement; 0 = off",
                                                   at_least(0)};
  Parameter<double> early_stopping_min_delta_{*this, "early_stopping_min_delta", 0,
                                              "the smallest change that counts as an improvement", at_least(0)};
  Parameter<std::vector<std::string>> may_differ_{*this, "may_differ", std::vector<std::string>{},
                                                  "what may differ between a resumed checkpoint and this run: seed, "
                                                  "sampling, dataset, vocabulary, learnt, position"};
  Parameter<std::int64_t> steps_per_order_{*this, "steps_per_order", 32,
                                           "maximum number of steps in one order; requests take effect between orders",
                                           between(1, 1e9) | in_unit("steps")};

  manager::RunSettings settings_;
  manager::Announcements announced_{{.dataset = dataset_, .run_state = run_state_, .checkpoints = checkpoints_},
                                    context().world_size,
                                    [this] { begin(); }};
  std::optional<manager::MetricsMerger> merger_;
  std::optional<manager::RunAgenda> agenda_;       ///< Set when the run begins.
  std::optional<core::EventLoop::TimerId> clock_;  ///< The timer of max_time_s.
  bool finished_ = false;
  manager::ChangedSettings changed_;
  manager::PauseRequests pauses_;
};

}  // namespace trainyard
