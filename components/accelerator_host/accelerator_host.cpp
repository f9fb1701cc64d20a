// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/accelerator_host.h"

#include <cmath>
#include <utility>

#include "components/accelerator_host/stop_order.h"
#include "core/loop/event_loop.h"
#include "messages/error.h"

namespace trainyard {

RunnerOptions AcceleratorHost::runner_options() const {
  return {
      .accelerator = *accelerator_,
      .strategy = *strategy_,
      .model = *model_,
      .collective = *collective_,
      .collective_timeout =
          std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(*collective_timeout_s_ * 1000))),
      .devices = *devices_,
      .precision = parse_precision(*precision_),
      .deterministic = *deterministic_,
      .detect_anomaly = *detect_anomaly_,
      .on_nan = *on_nan_,
      .loss_scaling = {.initial = *loss_scale_, .growth_steps = static_cast<std::uint64_t>(*loss_scale_growth_steps_)},
      .timeline = *timeline_};
}

void AcceleratorHost::on_configure() {
  runner_ = std::make_unique<Runner>(runner_options(), context());
  workplace_.emplace(context(), *runner_,
                     host::Workplace::Ports{.snapshot = snapshot_,
                                            .arena_readable = arena_readable_,
                                            .arena_read = arena_read_,
                                            .gradients = gradients_,
                                            .predictions = predictions_,
                                            .reports = {metrics_, rank_metrics_},
                                            .histograms = histograms_,
                                            .confusion = confusion_,
                                            .samples = samples_,
                                            .run_later = run_later()},
                     host::Workplace::Settings{.clip_norm = clip_norm_,
                                               .clip_value = clip_value_,
                                               .log_every_steps = log_every_steps_,
                                               .log_device_stats = log_device_stats_,
                                               .histograms_every_steps = histograms_every_steps_,
                                               .samples_per_validation = samples_per_validation_,
                                               .confusion_matrix = confusion_matrix_});
  // Called also when a reader of the arena has died, for which nothing may wait any longer.
  arena_readable_.on_ready([this] { use_free_arena(); });
}

/// The run is ending, so nobody waits for the answers to unfinished orders. Messages that still arrive are dropped, so
/// that they do not block their senders.
void AcceleratorHost::on_deactivate() {
  if (workplace_) {
    workplace_->reporter.mute();
    workplace_->histograms.mute();
  }
  queue_.close();  // First, because waiting for copies can fail.
  if (workplace_) workplace_->snapshots.finish();
}

/// The function may be called even while this component is destroyed. The task then does not run. Otherwise it belongs
/// to the batch that was used last.
host::Snapshots::RunLater AcceleratorHost::run_later() {
  return [this, &loop = loop(), alive = std::weak_ptr<const bool>(alive_)](std::function<void()> task) {
    loop.post([this, &loop, alive, task = std::move(task)] {
      if (alive.expired()) return;
      loop.set_trace(trace_);
      guarded(task);
    });
  };
}

void AcceleratorHost::on_finalize() {
  if (runner_) runner_->finish();
}

/// Claims the device, builds the model and allocates memory for its parameters and gradients. This is not done in the
/// constructor, because it takes long and depends on the dataset.
void AcceleratorHost::on_dataset(const DatasetInfo& data) {
  workplace_->reporter.count_in(data.unit, data.units_per_sample);
  workplace_->validation.describe(data);
  runner_->build(data);
  if (context().world_size == 1) {
    pause_.emplace();
  } else {
    pause_.emplace(context(), runner_options().collective_timeout);
  }
  arena_.send(runner_->arena_info(optimizer_state_.connections() > 0));
}

/// When this message arrives, the checkpoint writer has already restored the parameters and the state of all
/// components. Only the position of the run is left to be set.
void AcceleratorHost::on_run_state(const RunState& state) {
  take_settings(state.settings);
  workplace_->position = host::position_of(state, context().rank);
  runner_->restore_skipped_steps(state.skipped_steps);
  restored_.arrived();
}

void AcceleratorHost::become_ready() {
  runner_->start();
  workplace_->reporter.begin_counting();
  model_info_.send(runner_->model_info());
  proceed();
}

void AcceleratorHost::on_order(const std::shared_ptr<const Order>& order) {
  if (order->kind == OrderKind::kPause) {
    pause_->want(order->id);
  } else if (order->kind == OrderKind::kGoOn) {
    pause_->go_on();
  } else {
    queue_.push(order);
  }
  proceed();
}

void AcceleratorHost::on_batch(const std::shared_ptr<const Batch>& batch) {
  if (!queue_.offer({.batch = batch, .trace = loop().trace()})) return;
  // This rank cannot compute until the optimizer, or a component that reads the parameters, has finished, so the batch
  // is copied to the device meanwhile.
  if (ready_.open() && !can_compute() && batch->samples > 0) runner_->prefetch(*batch);
  proceed();
}

/// The first message means that the optimizer is ready; every later one ends a step.
void AcceleratorHost::on_parameters(const Parameters& message) {
  if (!optimizer_ready_.met()) return optimizer_ready_.arrived();
  if (!order_) {
    throw Error(Code::kInternal, "{}: parameters of step {} came; none were wanted", where(), message.step);
  }
  order_->on_parameters(message);
  finish_order_if_complete();
  proceed();
}

/// The optimizer sends its state before its first message Parameters, but over another edge.
void AcceleratorHost::on_optimizer_state(const OptimizerState& state) {
  if (state.rank != context().rank) return;  // A launch file can let all ranks share a topic.
  if (state.on_device) runner_->adopt(state);
  state_known_.arrived();
}

void AcceleratorHost::on_snapshot_taken() {
  workplace_->snapshots.taken();
  loop().set_trace(trace_);
  use_free_arena();
}

void AcceleratorHost::on_arena_read(const ArenaRead& answer, const MessageInfo& info) {
  workplace_->readers.read(answer, info.source);
  use_free_arena();
}

void AcceleratorHost::use_free_arena() {
  if (order_ && !workplace_->arena_is_read()) {
    order_->on_arena_free();
    finish_order_if_complete();
  }
  proceed();
}

/// Does all work that is possible now. Then pauses or resumes the input of batches.
void AcceleratorHost::proceed() {
  if (queue_.closed()) return;
  while (can_compute()) {
    if (stop_if_asked() || pause_if_asked()) continue;
    if (pause_->resting() || !(order_ ? consume_batch() : begin_order())) break;
    finish_order_if_complete();
  }
  queue_.regulate_batches();
}

bool AcceleratorHost::can_compute() const {
  if (!ready_.open() || workplace_->hold_computing()) return false;
  return order_ ? !order_->busy() : queue_.has_orders() || pause_->wanted();
}

/// Begins the next order. Returns false if there is none, if it must wait, or if the ranks pause before it.
bool AcceleratorHost::begin_order() {
  if (!queue_.has_orders() || workplace_->snapshots.hold_order(queue_.front())) return false;
  if (host::is_one_unit(queue_.front()) && !pause_->pass()) return false;
  order_ = host::make_active(queue_.pop(), *workplace_);
  order_->begin();
  return true;
}

/// Passes the next batch to the order. Returns false if there is no batch, or if the ranks pause before it. In the
/// second case, this rank may not have received the order to pause yet.
bool AcceleratorHost::consume_batch() {
  if (!queue_.has_batch() || (order_->between_units() && !pause_->pass())) return false;
  const host::ReceivedBatch received = queue_.take_batch();
  trace_ = received.trace;
  loop().set_trace(trace_);
  order_->consume(*received.batch);
  return true;
}

/// If a pause has been ordered and the last unit of work before it is done, answers the order to pause and returns
/// true. Orders in progress and in the queue are continued after the pause.
bool AcceleratorHost::pause_if_asked() {
  if (order_ && !order_->between_units()) return false;
  const std::optional<std::uint64_t> asked = pause_->come_to_rest(/*idle=*/!order_ && !queue_.has_orders());
  if (!asked) return false;
  const host::RunPosition& position = workplace_->position;
  order_done_.send(OrderDone{.order = *asked,
                             .rank = context().rank,
                             .kind = OrderKind::kPause,
                             .split = {},
                             .step = position.step,
                             .all_steps = position.all_steps,
                             .epoch = position.epoch,
                             .cursor = position.cursor,
                             .metrics = {},
                             .reductions = {}});
  return true;
}

/// If a stop has been ordered, drops all orders before it and begins the stop. Only a step whose gradients the
/// optimizer already has is finished first.
bool AcceleratorHost::stop_if_asked() {
  const std::shared_ptr<const Order> stop = queue_.pop_stop();
  if (!stop) return false;
  pause_->go_on();
  order_ = std::make_unique<host::StopOrder>(stop, *workplace_, std::move(order_));
  order_->begin();
  finish_order_if_complete();
  return true;
}

void AcceleratorHost::finish_order_if_complete() {
  if (queue_.closed() || !order_->complete()) return;
  OrderDone done = order_->finish();
  order_.reset();
  queue_.finished(done.order);
  order_done_.send(std::move(done));
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::AcceleratorHost, "accelerator_host",
                    "Forward and backward passes of a model on one device.")
