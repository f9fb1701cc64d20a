// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/batch_sequence.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {
namespace {

bool same(const LoaderCursor& left, const LoaderCursor& right) {
  return left.epoch == right.epoch && left.samples == right.samples;
}

}  // namespace

BatchSequence::BatchSequence(const BatchPlan* train, const std::map<std::string, BatchPlan>& evaluate)
    : train_(train), evaluate_(evaluate), guessing_(train != nullptr && train->batches() > 0) {}

std::uint64_t BatchSequence::add(const Order& order) {
  switch (order.kind) {
    case OrderKind::kTrain:
      return append(train(order));
    case OrderKind::kEvaluate:
    case OrderKind::kPredict:
      return append(evaluate(order));
    case OrderKind::kGenerate:
    case OrderKind::kCheckpoint:
    case OrderKind::kPause:
    case OrderKind::kGoOn:
      return 0;
    case OrderKind::kStop:
      return stop();
  }
  return 0;
}

BatchSequence::Span BatchSequence::train(const Order& order) const {
  if (train_ == nullptr || train_->batches() == 0) {
    throw Error(Code::kInvalidArgument,
                "order {}: the split 'train' has no batch for this rank ({} samples over all ranks); lower batch_size "
                "or set drop_last = false",
                order.id, train_ == nullptr ? 0 : train_->samples());
  }
  const LoaderCursor from = train_->advance(order.cursor, 0);
  const std::uint64_t batches = order.batches == 0 ? train_->batches_from(from.samples) : order.batches;
  return {order.id, order.epoch, train_, from, {}, batches, batches};
}

BatchSequence::Span BatchSequence::evaluate(const Order& order) const {
  const auto found = evaluate_.find(order.split);
  if (found == evaluate_.end()) {
    std::vector<std::string> known;
    for (const auto& [name, plan] : evaluate_) known.push_back(name);
    throw Error(Code::kInvalidArgument, "order {} ({}): no split named '{}'{}", order.id, name_of(order.kind),
                order.split, suggestion(order.split, known));
  }
  const BatchPlan& plan = found->second;
  const std::uint64_t batches = order.batches == 0 ? plan.batches() : order.batches;
  // The accelerator host would wait forever for batches that do not exist. With replacement, there is no limit.
  if (plan.sampling() != Sampling::kReplacement && batches > plan.batches()) {
    throw Error(Code::kInvalidArgument, "order {} ({}): {} batches of '{}' are wanted; allowed: at most {} (0 = all)",
                order.id, name_of(order.kind), batches, order.split, plan.batches());
  }
  return {order.id, order.epoch, &plan, {}, end_, batches, batches};
}

std::uint64_t BatchSequence::append(const Span& added) {
  Span span = added;
  std::uint64_t void_jobs = 0;
  if (is_training(span) && same(span.place, end_)) {
    const std::uint64_t guessed = std::min(guesses_, span.to_read);
    span.to_read -= guessed;
    span.place = train_->advance(span.place, guessed);
    guesses_ -= guessed;
  } else {
    void_jobs = void_guesses();
  }
  if (is_training(span)) {
    if (spans_.empty()) sent_ = added.place;
    end_ = train_->advance(added.place, span.to_send);
    guessing_ = true;
  }
  if (span.to_send > 0) spans_.push_back(span);
  return void_jobs;
}

std::uint64_t BatchSequence::stop() {
  void_guesses();
  spans_.clear();
  end_ = sent_;
  guessing_ = false;  // The run is ending, so no further training batches are expected.
  return kEverything;
}

std::uint64_t BatchSequence::void_guesses() { return std::exchange(guesses_, 0); }

std::optional<Job> BatchSequence::next() {
  for (Span& span : spans_) {
    if (span.to_read > 0) return job_of(span);
  }
  return guessing_ ? std::optional(guess()) : std::nullopt;
}

Job BatchSequence::job_of(Span& span) {
  --span.to_read;
  Job job{span.plan, span.place, span.next, false};
  if (is_training(span)) {
    job.next = span.place = train_->advance(span.place, 1);
    job.last_in_epoch = job.next.epoch != job.place.epoch;
  } else {
    // Not BatchPlan::advance(), because with replacement an evaluation can continue beyond the end of an epoch.
    span.place.samples += span.plan->info().batch_samples;
    job.last_in_epoch = span.to_read == 0;
  }
  return job;
}

Job BatchSequence::guess() {
  const LoaderCursor place = train_->advance(end_, guesses_++);
  const LoaderCursor next = train_->advance(place, 1);
  return {train_, place, next, next.epoch != place.epoch};
}

BatchSequence::Stamp BatchSequence::send(const Job& job) {
  Span& span = spans_.front();
  const bool training = is_training(span);
  const Stamp stamp{span.order, training ? job.place.epoch : span.epoch};
  if (training) sent_ = job.next;
  if (--span.to_send == 0) spans_.pop_front();
  return stamp;
}

}  // namespace trainyard
