// SPDX-License-Identifier: Apache-2.0
#include "strategies/zero1/zero1.h"

#include <utility>

namespace trainyard {

ArenaShard Zero1::shard(const ArenaLayout& layout) const {
  return ShardedUpdate::shard_of(layout, context().rank, context().world_size);
}

void Zero1::synchronise(ArenaEdit& edit) {
  sharded_.emplace(world(), arena(), trace());
  sharded_->synchronise(edit);
}

Work Zero1::reduce(const Bucket& bucket, const at::Tensor& gradients) {
  return world().reduce_scatter(gradients, ReduceOp::kMean, sharded_->bounds_of(bucket.offset_bytes, bucket.bytes));
}

/// The optimizer has zeroed this rank's part of the gradients. The other parts have undefined values after the
/// reduction and must be zeroed, too.
void Zero1::after_update(std::uint64_t /*step*/, ArenaEdit& edit) {
  sharded_->gather_parameters(edit);
  if (!std::exchange(told_, true)) {
    context().log->info("{}: {}", where(), sharded_->holdings().text(context().rank));
  }
  const at::Tensor gradients = arena().gradients();
  const auto size = static_cast<std::uint64_t>(gradients.element_size());
  const auto begin = static_cast<std::int64_t>(arena().shard().begin / size);
  const auto end = static_cast<std::int64_t>(arena().shard().end / size);
  gradients.narrow(0, 0, begin).zero_();
  gradients.narrow(0, end, gradients.numel() - end).zero_();
}

std::vector<Scalar> Zero1::stats() const { return sharded_->holdings().scalars(); }

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Zero1, "zero1", "Like ddp, but the optimizer's state is divided among the ranks.")
