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
                                            .samples = samples_},
                     host::Workplace::Settings{.clip_norm = clip_norm_,
                                               .clip_value = clip_value_,
                                               .log_every_steps = log_every_steps_,
                                               .log_device_stats = log_device_stats_,
                                               .histograms_every_steps = histograms_every_steps_,
                                               .samples_per_validation = samples_per_validation_,
                                               .confusion_matrix = confusion_matrix_});
}

/// Whoever ended the run has given up the orders that are still open. Messages that still arrive must not block their
/// senders.
void AcceleratorHost::on_deactivate() {
  if (workplace_) {
    workplace_->reporter.mute();
    workplace_->histograms.mute();
  }
  queue_.close();
}

void AcceleratorHost::on_finalize() {
  if (runner_) runner_->finish();
}

/// All heavy work happens here and not in the constructor: the device is claimed, the model is built, and the arena is
/// filled.
void AcceleratorHost::on_dataset(const DatasetInfo& data) {
  workplace_->reporter.count_in(data.unit, data.units_per_sample);
  workplace_->validation.describe(data);
  runner_->build(data);
  if (context().world_size == 1) {
    pause_.emplace();
  } else {
    pause_.emplace(context(), runner_options().collective_timeout);
  }
  arena_.send(runner_->arena_info());
}

/// The arena holds the restored parameters already, and all state is back. What is left is where the run stands.
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
  // Nothing is computed until the optimizer or the checkpoint writer is done, so there is time to move the batch to the
  // device.
  if (ready_.open() && !can_compute() && batch->samples > 0) runner_->prefetch(*batch);
  proceed();
}

/// The first message only says that the optimizer is there; every later one ends a step.
void AcceleratorHost::on_parameters(const Parameters& message) {
  if (!optimizer_ready_.met()) return optimizer_ready_.arrived();
  if (!order_) {
    throw Error(Code::kInternal, "{}: parameters of step {} came; none were wanted", where(), message.step);
  }
  order_->on_parameters(message);
  finish_order_if_complete();
  proceed();
}

void AcceleratorHost::on_snapshot_taken() {
  workplace_->snapshots.taken();
  loop().set_trace(trace_);
  use_free_arena();
}

void AcceleratorHost::on_arena_read(const ArenaRead& answer) {
  workplace_->readers.read(answer);
  use_free_arena();
}

void AcceleratorHost::use_free_arena() {
  if (order_ && !workplace_->arena_is_read()) {
    order_->on_arena_free();
    finish_order_if_complete();
  }
  proceed();
}

/// Does whatever can be done now, then admits another batch or keeps batches out.
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

/// Returns false if there is no order, or if the ranks pause before it.
bool AcceleratorHost::begin_order() {
  if (!queue_.has_orders() || (host::is_one_unit(queue_.front()) && !pause_->pass())) return false;
  order_ = host::make_active(queue_.pop(), *workplace_);
  order_->begin();
  return true;
}

/// Returns false if there is no batch, or if the ranks pause before it. A rank that has not heard of the pause yet
/// will.
bool AcceleratorHost::consume_batch() {
  if (!queue_.has_batch() || (order_->between_units() && !pause_->pass())) return false;
  const host::ReceivedBatch received = queue_.take_batch();
  trace_ = received.trace;
  loop().set_trace(trace_);
  order_->consume(*received.batch);
  return true;
}

/// Comes to rest when the last unit before the pause is done. The orders stay where they are.
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
                             .epoch = position.epoch,
                             .cursor = position.cursor,
                             .metrics = {},
                             .reductions = {}});
  return true;
}

/// A stop order overtakes everything before it, except a step whose gradients the optimizer has.
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
