#include "components/accelerator_host/accelerator_host.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
      .precision = *precision_,
      .deterministic = *deterministic_,
      .detect_anomaly = *detect_anomaly_,
      .loss_scaling = {.initial = *loss_scale_, .growth_steps = static_cast<std::uint64_t>(*loss_scale_growth_steps_)},
      .timeline = *timeline_};
}

void AcceleratorHost::on_configure() { runner_ = std::make_unique<Runner>(runner_options(), context()); }

void AcceleratorHost::on_deactivate() {
  // Orders that are still open were given up by whoever ended the run; what is under way must not block the senders.
  ending_ = true;
  queue_.clear();
  next_batch_.reset();
  batches_.resume();
}

void AcceleratorHost::on_finalize() {
  if (runner_) runner_->finish();
}

/// Everything heavy happens here, not in the constructor: the device is claimed, the model made, the arena filled.
void AcceleratorHost::on_dataset(const DatasetInfo& data) {
  data_ = data;
  runner_->build(data);
  arena_.send(runner_->arena_info());
}

/// The arena holds the restored parameters already; what is left is where the run stands.
void AcceleratorHost::on_run_state(const RunState& state) {
  run_state_known_ = true;
  step_ = state.step;
  epoch_ = state.epoch;
  samples_ = state.samples;
  cursor_ = state.cursor;
  if (!state.rng.empty()) runner_->set_rng_state(state.rng, state.step);
  runner_->restore(state.host_state);
  become_ready();
}

/// Optimizer and checkpoint writer work on the same memory, so both must be through before the first order.
void AcceleratorHost::become_ready() {
  const bool restored = run_state_known_ || run_state_.connections() == 0;
  if (ready_ || !optimizer_ready_ || !restored) return;
  ready_ = true;
  runner_->start();
  model_info_.send(runner_->model_info());
  proceed();
}

void AcceleratorHost::on_order(const std::shared_ptr<const Order>& order) {
  queue_.push_back(order);
  proceed();
}

void AcceleratorHost::on_batch(const std::shared_ptr<const Batch>& batch) {
  // What belongs to an order that was given up is dropped, which returns its credit.
  if (ending_ || batch->order <= finished_order_) return;
  next_batch_ = batch;
  // Nothing is computed until the optimizer or the checkpoint writer is done: time to bring the batch to the device.
  if (ready_ && !can_compute() && batch->samples > 0) runner_->prefetch(*batch);
  proceed();
}

/// The first one only says that the optimizer is there; every other one ends a step.
void AcceleratorHost::on_parameters(const Parameters& message) {
  if (!optimizer_ready_) {
    optimizer_ready_ = true;
    become_ready();
    return;
  }
  if (waiting_ != Waiting::kParameters || message.step != update_) {
    throw Error(Code::kInternal, "{}: parameters of step {} came; {} were wanted, of step {}", where(), message.step,
                waiting_ == Waiting::kParameters ? "parameters" : "none", update_);
  }
  finish_update(message.learning_rate);
  proceed();
}

void AcceleratorHost::on_snapshot_taken(const SnapshotTaken&) {
  if (snapshots_pending_ > 0) --snapshots_pending_;
  if (waiting_ == Waiting::kSnapshot && snapshots_pending_ == 0) send_gradients();
  proceed();
}

/// Does whatever can be done now, then lets in another batch or keeps them out.
void AcceleratorHost::proceed() {
  while (can_compute()) {
    if (stop_if_asked()) continue;
    const std::shared_ptr<const Order> order = queue_.front();
    if (order->batches == 0 || order->kind == "checkpoint") {
      carry_out_without_batches(*order);
      finish_order();
    } else if (next_batch_) {
      const std::shared_ptr<const Batch> batch = std::exchange(next_batch_, nullptr);
      consume(*batch);
    } else {
      break;
    }
  }
  regulate_batches();
}

bool AcceleratorHost::can_compute() const {
  // Forward passes change the buffers of a model, so these must have been copied before.
  const bool copying = snapshots_pending_ > 0 && runner_->arena().has_buffers();
  return ready_ && !copying && waiting_ == Waiting::kNothing && !queue_.empty();
}

/// One batch is taken in ahead; the others wait in their edge, whose credits hold the loader back.
void AcceleratorHost::regulate_batches() {
  if (next_batch_ && next_batch_->order <= finished_order_) next_batch_.reset();
  if (next_batch_) {
    batches_.pause();
  } else {
    batches_.resume();
  }
}

/// The loader serves orders in turn, as this component does, so a batch of another order is a broken protocol.
void AcceleratorHost::consume(const Batch& batch) {
  const std::shared_ptr<const Order> order = queue_.front();
  if (batch.order != order->id) {
    throw Error(Code::kInternal, "{}: a batch of order {} came while order {} ({}) had {} of {} batches", where(),
                batch.order, order->id, order->kind, progress_.batches, order->batches);
  }
  ++progress_.batches;
  progress_.samples += batch.samples;
  if (order->kind == "train") {
    train(batch, *order);
  } else if (order->kind == "evaluate") {
    evaluate(batch, *order);
  } else {
    predict(batch, *order);
  }
}

/// A stop order overtakes everything before it. A step that was begun is either complete here or given up whole.
bool AcceleratorHost::stop_if_asked() {
  const auto stop = std::ranges::find_if(queue_, [](const auto& order) { return order->kind == "stop"; });
  if (stop == queue_.end()) return false;
  // The one case in which somebody other than the optimizer zeroes gradients.
  if (micro_batch_ > 0) runner_->give_up_step();
  step_samples_ = 0;
  micro_batch_ = 0;
  losses_.clear();
  evaluated_.clear();
  throughput_.pause(Throughput::Clock::now());
  queue_.erase(queue_.begin(), stop);
  progress_.stopped = true;
  finish_order();
  return true;
}

/// Answers the order at the front.
void AcceleratorHost::finish_order() {
  const std::shared_ptr<const Order> order = std::move(queue_.front());
  queue_.pop_front();
  finished_order_ = order->id;
  progress_.order = order->id;
  progress_.rank = context().rank;
  progress_.kind = order->kind;
  progress_.split = order->split;
  progress_.step = step_;
  progress_.epoch = epoch_;
  progress_.cursor = cursor_;
  order_done_.send(std::exchange(progress_, {}));
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::AcceleratorHost, "accelerator_host",
                    "Forward and backward passes of a model on one device.")
