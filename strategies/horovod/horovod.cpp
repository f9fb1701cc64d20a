// SPDX-License-Identifier: Apache-2.0
#include "strategies/horovod/horovod.h"

#include <utility>

namespace trainyard {

void Horovod::prepare_reduction() {
  if (*form_ == horovod::GradientForm::kFp16) half_.emplace(world(), arena().gradients(), at::kHalf);
}

/// Records that one more gradient is ready. The reduction itself begins after a vote.
Work Horovod::reduce(const Bucket& bucket, const at::Tensor& /*gradients*/) {
  if (ready_.empty()) {
    votes_ = fused_ = 0;
    last_vote_ = Clock::now();  // The first cycle begins here.
  }
  total_ = bucket.count;
  ready_.push_back(bucket);
  progress();
  return {};
}

void Horovod::progress() {
  world().progress();
  if (voting_ && voting_->done()) count_votes();
  if (!voting_ && time_to_vote()) vote();
}

bool Horovod::time_to_vote() const {
  if (ready_.empty() || sent_ == total_) return false;
  if (ready_.size() == total_ || static_cast<double>(bytes_between(sent_, ready_.size())) >= *fusion_mb_ * (1 << 20)) {
    return true;
  }
  return Clock::now() - last_vote_ >= std::chrono::duration<double, std::milli>(*cycle_time_ms_);
}

void Horovod::vote() {
  ballot_ = static_cast<std::int64_t>(ready_.size());
  voting_ = world().collective().all_reduce({&ballot_, DType::kInt64, 1}, ReduceOp::kMin);
  last_vote_ = Clock::now();
  ++votes_;
}

void Horovod::count_votes() {
  voting_->wait();
  voting_.reset();
  reduce_up_to(static_cast<std::size_t>(ballot_));
}

/// Starts to reduce the gradients up to `end`, in pieces of at most `fusion_mb`. A gradient is never divided; a
/// gradient larger than `fusion_mb` is reduced alone.
void Horovod::reduce_up_to(std::size_t end) {
  while (sent_ < end) {
    const std::size_t begin = sent_++;
    while (sent_ < end && static_cast<double>(bytes_between(begin, sent_ + 1)) <= *fusion_mb_ * (1 << 20)) ++sent_;
    reduce_fused(begin, sent_);
  }
}

/// Gradients become ready from the end of the block to its beginning.
std::uint64_t Horovod::bytes_between(std::size_t begin, std::size_t end) const {
  if (begin == end) return 0;
  return ready_[begin].offset_bytes + ready_[begin].bytes - ready_[end - 1].offset_bytes;
}

void Horovod::reduce_fused(std::size_t begin, std::size_t end) {
  const TraceSpan span(trace(), "reduce", SpanKind::kCollective);
  const at::Tensor& flat = arena().gradients();
  const std::int64_t size = flat.element_size();
  at::Tensor fused = flat.narrow(0, static_cast<std::int64_t>(ready_[end - 1].offset_bytes) / size,
                                 static_cast<std::int64_t>(bytes_between(begin, end)) / size);
  const Work work = half_ ? half_->average(fused) : world().all_reduce(fused, ReduceOp::kMean);
  reductions_.push_back({std::move(fused), work});
  ++fused_;
}

void Horovod::complete_reduction() {
  const TraceSpan span(trace(), "wait for gradients of all ranks", SpanKind::kCollective);
  while (sent_ < total_) {
    if (!voting_) vote();
    count_votes();
  }
  for (Fused& fused : reductions_) {
    fused.work.wait();
    if (half_) half_->widen(fused.gradients);
  }
  reductions_.clear();
  ready_.clear();
  sent_ = 0;
}

std::vector<Scalar> Horovod::stats() const {
  return {{"votes", static_cast<double>(votes_)}, {"fused_reductions", static_cast<double>(fused_)}};
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Horovod, "horovod",
                   "Averages, in every cycle, all gradients that are ready on every rank.")
