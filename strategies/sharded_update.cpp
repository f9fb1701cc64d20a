#include "strategies/sharded_update.h"

#include "strategies/step_trace.h"

namespace trainyard {

ArenaShard ShardedUpdate::shard(const ArenaLayout& layout) const {
  const std::vector<std::uint64_t> bounds = shard_bounds(layout.parameter_bytes, context().world_size);
  return {.begin = bounds[context().rank], .end = bounds[context().rank + 1]};
}

void ShardedUpdate::set_up(const Replica& replica) {
  Strategy::set_up(replica);
  bounds_ = shard_bounds(arena().layout().parameter_bytes, context().world_size);
}

/// Every rank has restored its own part, if there was a checkpoint; buffers are those of rank 0.
void ShardedUpdate::start() {
  if (replica().world == nullptr) return;
  gather_parameters();
  if (arena().has_buffers()) broadcast(arena().buffers(), 0).wait();
}

double ShardedUpdate::sum_over_shards(double value) {
  if (replica().world != nullptr) world().all_reduce({&value, DType::kFloat64, 1}, ReduceOp::kSum).wait();
  return value;
}

void ShardedUpdate::end_update(std::uint64_t /*step*/) {
  if (replica().world != nullptr) gather_parameters();
  // Only now: the first step has shown how much memory one takes.
  if (!std::exchange(told_, true)) context().log->info("{}: {}", where(), holdings().text(context().rank));
}

Holdings ShardedUpdate::holdings() const {
  const std::uint64_t parameters = arena().parameters().nbytes(), gradients = arena().gradients().nbytes();
  return {.parameters = parameters,
          .gradients = gradients,
          .peak_parameters = parameters,
          .peak_gradients = gradients,
          .whole_parameters = arena().layout().parameter_bytes};
}

std::vector<std::uint64_t> ShardedUpdate::bounds_of(std::uint64_t offset, std::uint64_t bytes) const {
  return bounds_within(bounds_, offset, bytes, size_of(arena().layout().dtype));
}

void ShardedUpdate::gather_parameters() const {
  const TraceSpan span(replica().trace, "gather parameters", "communication");
  all_gather(arena().parameters(), bounds_of(0, arena().layout().parameter_bytes)).wait();
}

}  // namespace trainyard
