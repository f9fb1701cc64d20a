// SPDX-License-Identifier: Apache-2.0
#include "strategies/replica_strategy.h"

#include <utility>

#include "strategies/gradient_buckets.h"

namespace trainyard {

ReplicaStrategy::ReplicaStrategy(StrategyContext& context) : Strategy(context) {}

ReplicaStrategy::~ReplicaStrategy() = default;

void ReplicaStrategy::prepare() {
  if (world().is_alone()) return;
  constexpr std::uint64_t kFirstBytes = 1 << 20;
  buckets_ = std::make_unique<GradientBuckets>(model().parameters(), arena().layout().entries, arena().gradients(),
                                               kFirstBytes, bucket_bytes(),
                                               [this](const Bucket& bucket, at::Tensor gradients) {
                                                 const TraceSpan span(trace(), "reduce", SpanKind::kCollective);
                                                 Work work = reduce(bucket, gradients);
                                                 reductions_.push_back({bucket, std::move(gradients), work});
                                               });
  buckets_->on_progress = [this] { progress(); };
  prepare_reduction();
}

at::Tensor ReplicaStrategy::compute(const MicroBatch& batch) {
  if (batch.empty()) return {};
  if (!buckets_) return passes().forward_and_backward(model(), batch);
  at::Tensor loss = passes().forward(model(), batch);
  if (batch.last) buckets_->arm();
  return passes().backward(std::move(loss), batch.weight);
}

void ReplicaStrategy::complete_gradients() {
  if (!buckets_) return;
  const TraceSpan span(trace(), "wait for reductions", SpanKind::kCollective);
  buckets_->flush();
  for (Reduction& reduction : reductions_) {
    reduction.work.wait();
    finish(reduction.bucket, reduction.gradients);
  }
  reductions_.clear();
  complete_reduction();
}

}  // namespace trainyard
