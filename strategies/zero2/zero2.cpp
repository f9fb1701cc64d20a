// SPDX-License-Identifier: Apache-2.0
#include "strategies/zero2/zero2.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "strategies/gradient_buckets.h"
#include "strategies/step_trace.h"

namespace trainyard {
namespace {

constexpr std::uint64_t kLeastPiece = 64 << 10;  ///< A collective operation for fewer bytes would not be worthwhile.

at::Tensor elements(const at::Tensor& flat, std::uint64_t begin_bytes, std::uint64_t end_bytes) {
  const auto size = static_cast<std::uint64_t>(flat.element_size());
  return flat.narrow(0, static_cast<std::int64_t>(begin_bytes / size),
                     static_cast<std::int64_t>((end_bytes - begin_bytes) / size));
}

}  // namespace

Zero2::Zero2(StrategyContext& context) : Strategy(context) {}

Zero2::~Zero2() = default;

ArenaShard Zero2::shard(const ArenaLayout& layout) const {
  ArenaShard shard = ShardedUpdate::shard_of(layout, context().rank, context().world_size);
  shard.gradients = context().world_size > 1;
  shard.in_place = !shard.gradients;
  return shard;
}

void Zero2::prepare() {
  sharded_.emplace(world(), arena(), trace());
  if (world().is_alone()) return;
  parameters_ = model().parameters();
  const std::uint64_t bytes = piece_bytes();
  for (Staging& staging : stagings_) {
    const auto count = static_cast<std::int64_t>(bytes / size_of(arena().layout().dtype));
    staging.memory = world().scratch(count, arena().gradients().options());
  }
  // No block with all gradients exists. The block of parameters has the same layout, so it is used to find the buckets.
  buckets_ = std::make_unique<GradientBuckets>(
      parameters_, arena().layout().entries, arena().parameters(), bytes, bytes,
      [this](const Bucket& bucket, const at::Tensor& /*parameters*/) { reduce_bucket(bucket); });
  buckets_->on_progress = [this] { world().progress(); };
}

/// Returns the size of each of the two buffers in which gradients are reduced. Together they are not larger than the
/// part of the gradients that a rank keeps (unless this part is tiny), so that a large bucket_mb does not use up the
/// memory that the strategy saves.
std::uint64_t Zero2::piece_bytes() const {
  const std::uint64_t share = arena().layout().parameter_bytes / context().world_size / 2;
  std::uint64_t bytes = std::min(std::max(share, kLeastPiece), arena().layout().parameter_bytes);
  if (*bucket_mb_ > 0) bytes = std::min(bytes, static_cast<std::uint64_t>(*bucket_mb_ * (1 << 20)));
  return std::max(bytes / Arena::kAlignment, std::uint64_t{1}) * Arena::kAlignment;
}

/// A rank without samples contributes zeros to the averages.
at::Tensor Zero2::compute(const MicroBatch& batch) {
  at::Tensor loss;
  if (!batch.empty()) {
    loss = passes().forward(model(), batch);
    if (buckets_) buckets_->arm();
    loss = passes().backward(std::move(loss), batch.weight);
  }
  if (buckets_) buckets_->flush();
  return loss;
}

void Zero2::complete_gradients() {
  const TraceSpan span(trace(), "wait for reductions", SpanKind::kCollective);
  for (Staging& staging : stagings_) finish(staging);
}

void Zero2::drop_gradients(ArenaEdit& /*edit*/) {
  for (Staging& staging : stagings_) finish(staging);
}

void Zero2::after_update(std::uint64_t /*step*/, ArenaEdit& edit) {
  sharded_->gather_parameters(edit);
  // Logged after the first step, because only then it is known how much memory a step needs.
  if (!std::exchange(told_, true)) context().log->info("{}: {}", where(), holdings().text(context().rank));
}

/// If a parameter is larger than a buffer, it is reduced in several pieces.
void Zero2::reduce_bucket(const Bucket& bucket) {
  const TraceSpan span(trace(), "reduce", SpanKind::kCollective);
  peak_bytes_ = std::max(peak_bytes_, bytes_of_gradients());
  const Run whole{bucket.offset_bytes, bucket.offset_bytes + bucket.bytes};
  const std::uint64_t most = stagings_.front().memory.nbytes();
  for (std::uint64_t begin = whole.begin; begin < whole.end; begin += most) {
    reduce_run({begin, std::min(begin + most, whole.end)}, stagings_[next_]);
    next_ = (next_ + 1) % stagings_.size();
  }
  give_up_gradients(whole);
}

void Zero2::reduce_run(const Run& run, Staging& staging) {
  finish(staging);
  const at::Tensor memory = elements(staging.memory, 0, run.end - run.begin);
  fill(run, memory);
  staging.run = run;
  staging.work = world().reduce_scatter(memory, ReduceOp::kMean, sharded_->bounds_of(run.begin, run.end - run.begin));
}

/// Copies the gradients of the range into `memory`. Fills in zeros where a parameter has no gradient, and between
/// parameters.
void Zero2::fill(const Run& run, const at::Tensor& memory) const {
  const at::NoGradGuard no_gradients;
  std::uint64_t filled = run.begin;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& gradient = parameters_[i].tensor.grad();
    const std::uint64_t offset = arena().layout().entries[i].offset_bytes;
    const std::uint64_t begin = std::max(run.begin, offset);
    const std::uint64_t end = std::min(run.end, offset + parameters_[i].tensor.nbytes());
    if (begin >= end || !gradient.defined()) continue;
    elements(memory, filled - run.begin, begin - run.begin).zero_();
    elements(memory, begin - run.begin, end - run.begin)
        .copy_(elements(gradient.reshape(-1), begin - offset, end - offset));
    filled = end;
  }
  elements(memory, filled - run.begin, run.end - run.begin).zero_();
}

/// Waits for the reduction in the buffer, and adds this rank's part of the result to its gradients.
void Zero2::finish(Staging& staging) {
  staging.work.wait();
  const Run run = std::exchange(staging.run, {});
  const ArenaShard& shard = arena().shard();
  const std::uint64_t begin = std::max(run.begin, shard.begin), end = std::min(run.end, shard.end);
  if (begin >= end) return;
  elements(arena().gradients(), begin - shard.begin, end - shard.begin)
      .add_(elements(staging.memory, begin - run.begin, end - run.begin));
}

/// Frees the gradients of the run that autograd has allocated.
void Zero2::give_up_gradients(const Run& run) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::uint64_t offset = arena().layout().entries[i].offset_bytes;
    if (offset >= run.begin && offset < run.end) parameters_[i].tensor.mutable_grad().reset();
  }
}

std::uint64_t Zero2::bytes_of_gradients() const {
  std::uint64_t bytes = 0;
  for (const NamedTensor& named : parameters_) {
    if (named.tensor.grad().defined()) bytes += named.tensor.grad().nbytes();
  }
  return bytes;
}

Holdings Zero2::holdings() const {
  Holdings holdings = sharded_->holdings();
  holdings.peak_gradients += peak_bytes_;
  for (const Staging& staging : stagings_) {
    if (staging.memory.defined()) holdings.peak_gradients += staging.memory.nbytes();
  }
  return holdings;
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Zero2, "zero2",
                   "Like ddp, but the optimizer's state and the gradients are divided among the ranks.")
