#include "strategies/zero1/zero1.h"

#include <utility>

namespace trainyard {

Pending Zero1::reduce(const Bucket& bucket, at::Tensor gradients) {
  return reduce_scatter(std::move(gradients), ReduceOp::kMean, bounds_of(bucket.offset_bytes, bucket.bytes));
}

/// The optimizer has zeroed the gradients that it saw; of the others nobody knows what they are.
void Zero1::end_update(std::uint64_t step) {
  ShardedUpdate::end_update(step);
  const at::Tensor gradients = arena().gradients();
  const auto size = static_cast<std::uint64_t>(gradients.element_size());
  const auto begin = static_cast<std::int64_t>(arena().shard().begin / size);
  const auto end = static_cast<std::int64_t>(arena().shard().end / size);
  gradients.narrow(0, 0, begin).zero_();
  gradients.narrow(0, end, gradients.numel() - end).zero_();
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Zero1, "zero1", "As ddp, with the optimizer's state shared out over the ranks.")
