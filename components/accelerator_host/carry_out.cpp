// The part of the accelerator host that carries orders out; accelerator_host.cpp decides when.
#include <algorithm>
#include <ctime>
#include <utility>

#include "components/accelerator_host/accelerator_host.h"
#include "messages/error.h"

namespace trainyard {
namespace {

std::int64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

/// Orders that need nothing from the loader: snapshots, generation, and empty ones, which are done at once.
void AcceleratorHost::carry_out_without_batches(const Order& order) {
  if (order.kind == "checkpoint") {
    take_snapshot(order);
  } else if (order.kind == "predict") {
    runner_->begin_evaluation();
    Prediction generated = runner_->generate(order.split);
    // Ranks draw different numbers, and one text is enough.
    if (context().rank == 0) send_prediction(std::move(generated), order);
    runner_->end_evaluation();
  } else if (order.kind != "train" && order.kind != "evaluate") {
    throw Error(Code::kInvalidArgument,
                "{}: order {} is of kind '{}'; known: train, evaluate, predict, checkpoint, stop", where(), order.id,
                order.kind);
  }
}

/// One micro-batch. Loss and gradients of a step are means over its micro-batches, which must therefore be of one size.
void AcceleratorHost::train(const Batch& batch, const Order& order) {
  throughput_.resume(Throughput::Clock::now());
  if (micro_batch_ == 0) {
    // The last step of an order may have fewer micro-batches; `batch` itself is counted in progress_ already.
    const std::uint64_t remaining = order.batches - progress_.batches + 1;
    micro_batches_ = std::min(std::max<std::uint64_t>(order.micro_batches, 1), remaining);
    reporting_ = (step_ + 1) % static_cast<std::uint64_t>(*log_every_steps_) == 0;
  }
  const bool last = micro_batch_ + 1 == micro_batches_;
  at::Tensor loss = runner_->train(batch, weight_of(batch), last);
  if (reporting_ && loss.defined()) losses_.push_back(std::move(loss));
  step_samples_ += batch.samples;
  epoch_ = batch.epoch;
  throughput_.add(batch.samples * data_.units_per_sample);
  if (++micro_batch_ < micro_batches_) return;
  // Only now: a stop gives up a step that is not complete, and a resumed run begins it again.
  last_samples_ = std::exchange(step_samples_, 0);
  samples_ += last_samples_;
  cursor_ = batch.next;
  finish_step();
}

/// Its share of a step. Ranks average their gradients, so one that has more samples than the others weighs more: the
/// result is the mean over the samples of all ranks. Where all have the same samples, each computes the whole mean.
double AcceleratorHost::weight_of(const Batch& batch) const {
  const double share = 1.0 / static_cast<double>(micro_batches_);
  const std::uint64_t if_all_were_alike = batch.samples * context().world_size;
  if (runner_->same_data() || batch.world_samples == 0 || batch.world_samples == if_all_were_alike) return share;
  return share * static_cast<double>(if_all_were_alike) / static_cast<double>(batch.world_samples);
}

/// The last micro-batch of a step is through. While a snapshot is being copied the gradients stay here: the optimizer
/// would change what is copied.
void AcceleratorHost::finish_step() {
  micro_batch_ = 0;
  result_ = runner_->end_step({.norm = *clip_norm_, .value = *clip_value_});
  if (result_.skipped) {
    skip_step(*result_.skipped);
  } else if (snapshots_pending_ > 0) {
    waiting_ = Waiting::kSnapshot;
  } else {
    send_gradients();
  }
}

/// Gradients overflowed. The optimizer never hears of them, so parameters, its state and its count of steps stay; the
/// batches are used up. All ranks decide alike.
void AcceleratorHost::skip_step(const SkippedStep& skipped) {
  log().warn(
      "a step after step {} is skipped: gradients overflowed at loss scale {}; the scale is {} now, {} skipped "
      "so far",
      step_, skipped.loss_scale, skipped.next_loss_scale, skipped.skipped);
  losses_.clear();
  end_order_if_complete();
}

/// From here on the parameters belong to the optimizer, until it answers.
void AcceleratorHost::send_gradients() {
  update_ = runner_->begin_update(step_ + 1);
  if (update_ == 0) return finish_update(0);
  waiting_ = Waiting::kParameters;
  const auto message = gradients_.loan();
  *message = {.step = update_,
              .run_step = step_ + 1,
              .bucket = 0,
              .buckets = 1,
              .scale = result_.scale,
              .norm = result_.norm,
              .total_steps = queue_.empty() ? 0 : queue_.front()->total_steps};
  gradients_.send(message);
}

/// The optimizer has answered: the step is done.
void AcceleratorHost::finish_update(double learning_rate) {
  waiting_ = Waiting::kNothing;
  runner_->end_update(++step_);
  if (queue_.empty()) return;  // The run is being ended.
  if (reporting_) report_step(learning_rate);
  end_order_if_complete();
}

/// A training order ends with the step that uses its last batch.
void AcceleratorHost::end_order_if_complete() {
  if (progress_.batches < queue_.front()->batches) return;
  throughput_.pause(Throughput::Clock::now());
  finish_order();
}

/// The only place in a step that reads numbers off the device; called for the steps that are reported.
void AcceleratorHost::report_step(double learning_rate) {
  double loss = 0;
  for (const at::Tensor& one : losses_) loss += one.item<double>() / static_cast<double>(losses_.size());
  std::vector<Scalar> values;
  // Of a rank that had no samples there is none.
  if (!losses_.empty()) values.push_back({"loss", loss});
  losses_.clear();
  if (update_ > 0) values.push_back({"learning_rate", learning_rate});
  if (result_.norm > 0) values.push_back({"gradient_norm", result_.norm});
  for (Scalar& value : runner_->metrics()) values.push_back(std::move(value));
  if (*log_device_stats_) {
    for (const auto& [name, value] : runner_->device().stats()) values.push_back({name, value});
  }
  runner_->device().synchronize();
  values.push_back({"throughput", throughput_.take(Throughput::Clock::now())});
  RankMetrics said{.weight = static_cast<double>(last_samples_), .reductions = {}};
  // Of the same samples each is counted once.
  if (!runner_->same_data()) said.reductions["throughput"] = "sum";
  said.metrics.values = std::move(values);
  send_metrics(*queue_.front(), "train", std::move(said));
}

/// Results stay on the device until the last batch is through.
void AcceleratorHost::evaluate(const Batch& batch, const Order& order) {
  if (progress_.batches == 1) runner_->begin_evaluation();
  evaluated_.emplace_back(static_cast<double>(batch.samples), runner_->evaluate(batch));
  if (progress_.batches < order.batches) return;
  runner_->end_evaluation();
  merge_evaluation();
  RankMetrics said{.weight = static_cast<double>(progress_.samples), .reductions = progress_.reductions};
  said.metrics.values = progress_.metrics;
  // Not to be taken for the reports of training steps.
  send_metrics(order, order.split == "train" ? "train_eval" : order.split, std::move(said));
  finish_order();
}

/// Over all batches of this rank; the manager merges ranks. Only here is the device waited for.
void AcceleratorHost::merge_evaluation() {
  ScalarMerger merger;
  for (const auto& [samples, metrics] : evaluated_) {
    for (const NamedMetric& metric : metrics) {
      merger.add(metric.name, metric.value.item<double>(), samples, metric.reduction);
    }
  }
  evaluated_.clear();
  progress_.metrics = merger.values();
  progress_.reductions = merger.reductions();
}

void AcceleratorHost::predict(const Batch& batch, const Order& order) {
  if (progress_.batches == 1) runner_->begin_evaluation();
  if (std::optional<Prediction> said = runner_->predict(batch)) send_prediction(std::move(*said), order);
  if (progress_.batches < order.batches) return;
  runner_->end_evaluation();
  finish_order();
}

void AcceleratorHost::send_prediction(Prediction prediction, const Order& order) {
  prediction.order = order.id;
  prediction.step = step_;
  predictions_.send(std::move(prediction));
}

/// Asks for a copy of the arena and goes on: the next step may be computed, but not applied, before the copy is made.
void AcceleratorHost::take_snapshot(const Order& order) {
  runner_->begin_snapshot();  // On all ranks, also on those of which nothing is written.
  if (snapshot_.connections() == 0) {
    log().warn("order {} asks for a checkpoint ('{}'), but nothing listens to '{}'", order.id, order.reason,
               snapshot_.name());
    return;
  }
  ++snapshots_pending_;
  snapshot_.send(Snapshot{.rank = context().rank,
                          .order = order.id,
                          .step = step_,
                          .epoch = epoch_,
                          .samples = samples_,
                          .reason = order.reason,
                          .cursor = cursor_,
                          .rng = runner_->rng_state(),
                          .metrics = order.metrics,
                          .host_state = runner_->state()});
}

/// `said` has values, weight and reductions. Of several ranks, each says what it knows and waits for nobody.
void AcceleratorHost::send_metrics(const Order& order, const std::string& stage, RankMetrics said) {
  said.rank = context().rank;
  said.metrics.step = step_;
  said.metrics.total_steps = order.total_steps;
  said.metrics.epoch = epoch_;
  said.metrics.stage = stage;
  said.metrics.time_ns = realtime_ns();
  said.metrics.samples = samples_;
  said.metrics.unit = data_.unit;
  said.metrics.units = samples_ * data_.units_per_sample;
  if (context().world_size == 1) {
    metrics_.send(std::move(said.metrics));
  } else {
    rank_metrics_.send(std::move(said));
  }
}

}  // namespace trainyard
