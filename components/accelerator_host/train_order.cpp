// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/train_order.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "core/spans/span_scope.h"
#include "messages/error.h"

namespace trainyard::host {

void TrainOrder::enter(Phase next) {
  const bool allowed = next == Phase::kHolding    ? phase_ == Phase::kAccumulating
                       : next == Phase::kUpdating ? phase_ != Phase::kUpdating
                                                  : phase_ != Phase::kAccumulating;
  if (!allowed)
    throw Error(Code::kInternal, "a training step cannot go from phase {} to {}", static_cast<int>(phase_),
                static_cast<int>(next));
  phase_ = next;
}

// The loss and the gradients of a step are means over its micro-batches. All micro-batches have the same weight, even
// if their numbers of samples differ.
void TrainOrder::use(const Batch& batch) {
  workplace().reporter.training();
  if (micro_batch_ == 0) begin_step(batch);
  batch_ = batch.index;
  accumulate(batch);
  workplace().position.epoch = batch.epoch;
  workplace().reporter.trained_on(batch.samples);
  if (++micro_batch_ < micro_batches_) return;
  micro_batch_ = 0;
  // The position advances only when the step is complete. If the run stops before, the step is discarded, and a resumed
  // run begins it again.
  ++workplace().position.all_steps;
  workplace().position.samples += outcome_.samples;
  workplace().position.cursor = batch.next;
  end_accumulation();
}

void TrainOrder::begin_step(const Batch& batch) {
  const std::uint64_t remaining = order().batches - used() + 1;  // used() already includes the current batch.
  micro_batches_ = std::min(std::max<std::uint64_t>(order().micro_batches, 1), remaining);
  reported_ = (workplace().position.step + 1) % static_cast<std::uint64_t>(*workplace().settings.log_every_steps) == 0;
  outcome_.samples = 0;
  workplace().histograms.begin_step(workplace().position.step + 1, batch);
  if (step_began_ns_ == 0 && core::records_spans()) step_began_ns_ = core::span_clock_ns();
}

void TrainOrder::accumulate(const Batch& batch) {
  const bool last = micro_batch_ + 1 == micro_batches_;
  outcome_.samples += batch.samples;
  at::Tensor loss = workplace().runner.train(batch, workplace().position.step + 1, weight_of(batch), last);
  if (reported_ && loss.defined()) outcome_.losses.push_back(std::move(loss));
}

/// Returns the factor for the gradients of a micro-batch. The ranks average their gradients with equal weights, so the
/// gradients of a rank with more samples are multiplied by a larger factor. The result is then the mean over the
/// samples of all ranks. If all ranks get the same samples, they have the same factor.
double TrainOrder::weight_of(const Batch& batch) const {
  const double share = 1.0 / static_cast<double>(micro_batches_);
  const std::uint64_t if_all_were_alike = batch.samples * workplace().context.world_size;
  if (workplace().runner.same_data() || batch.world_samples == 0 || batch.world_samples == if_all_were_alike) {
    return share;
  }
  return share * static_cast<double>(if_all_were_alike) / static_cast<double>(batch.world_samples);
}

void TrainOrder::end_accumulation() {
  outcome_.result =
      workplace().runner.end_step({.norm = *workplace().settings.clip_norm, .value = *workplace().settings.clip_value},
                                  workplace().histograms.look_at_gradients());
  if (outcome_.result.skipped) {
    skip_step(*outcome_.result.skipped);
  } else if (workplace().arena_is_read()) {
    enter(Phase::kHolding);
  } else {
    hand_over_gradients();
  }
}

/// If the ranks make their updates together, all of them skip the step, so no rank waits for an update that is not
/// made.
void TrainOrder::skip_step(const SkippedStep& skipped) {
  outcome_.losses.clear();
  if (!skipped.overflow) {
    workplace().context.log->warn(
        "a step after step {} (with batch {} of epoch {}) is skipped: a loss or a gradient is not finite; {} skipped "
        "so "
        "far",
        workplace().position.step, batch_, workplace().position.epoch, skipped.skipped);
    return;
  }
  workplace().context.log->warn(
      "a step after step {} is skipped: gradients overflowed at loss scale {}; the scale is {} now, {} skipped so far",
      workplace().position.step, skipped.loss_scale, skipped.next_loss_scale, skipped.skipped);
}

void TrainOrder::on_arena_free() {
  if (phase_ == Phase::kHolding) hand_over_gradients();
}

void TrainOrder::hand_over_gradients() {
  const std::uint64_t step = workplace().position.step + 1;
  update_ = workplace().runner.begin_update(step);
  if (update_ == 0) return end_step(0);
  enter(Phase::kUpdating);
  const auto message = workplace().gradients.loan();
  *message = {.step = update_,
              .run_step = step,
              .bucket = 0,
              .buckets = 1,
              .scale = outcome_.result.scale,
              .norm = outcome_.result.norm,
              .total_steps = order().total_steps};
  workplace().gradients.send(message);
}

void TrainOrder::end_step(double learning_rate) {
  if (phase_ != Phase::kAccumulating) enter(Phase::kAccumulating);
  workplace().runner.end_update(++workplace().position.step);
  record_step();
  workplace().readers.show(workplace().position.step);
  outcome_.updated = update_ > 0;
  outcome_.learning_rate = learning_rate;
  if (reported_) workplace().reporter.report_step(order(), outcome_);
  workplace().histograms.end_step();
  outcome_.losses.clear();
}

/// The next step begins when this one ends, so that it includes the wait for its first batch.
void TrainOrder::record_step() {
  if (!core::records_spans()) {
    step_began_ns_ = 0;
    return;
  }
  const std::int64_t now = core::span_clock_ns();
  if (step_began_ns_ != 0) {
    core::add_span({.kind = SpanKind::kStep,
                    .name = "step",
                    .begin_ns = step_began_ns_,
                    .end_ns = now,
                    .step = workplace().position.step});
  }
  step_began_ns_ = now;
}

void TrainOrder::conclude(OrderDone&) {
  workplace().runner.check_all_losses();
  workplace().reporter.not_training();
}

// The optimizer, which normally zeroes the gradients, does not get those of the unfinished step, so they are discarded
// here.
void TrainOrder::abandon() {
  if (micro_batch_ > 0) workplace().runner.give_up_step();
  workplace().reporter.not_training();
}

}  // namespace trainyard::host
