// SPDX-License-Identifier: Apache-2.0
#include "strategies/sharded_update.h"

namespace trainyard {

ArenaShard ShardedUpdate::shard_of(const ArenaLayout& layout, std::uint32_t rank, std::uint32_t ranks) {
  const std::vector<std::uint64_t> bounds = shard_bounds(layout.parameter_bytes, ranks);
  return {.begin = bounds[rank], .end = bounds[rank + 1]};
}

ShardedUpdate::ShardedUpdate(World& world, const Arena& arena, StepTrace* trace)
    : world_(world),
      arena_(arena),
      trace_(trace),
      bounds_(shard_bounds(arena.layout().parameter_bytes, world.size())) {}

void ShardedUpdate::synchronise(ArenaEdit& edit) {
  if (world_.is_alone()) return;
  gather_parameters(edit);
  if (arena_.has_buffers()) world_.broadcast(arena_.buffers(), 0).wait();
}

void ShardedUpdate::gather_parameters(ArenaEdit& edit) {
  if (world_.is_alone()) return;
  const TraceSpan span(trace_, "gather parameters", SpanKind::kCollective);
  world_.all_gather(edit.parameters(), bounds_of(0, arena_.layout().parameter_bytes)).wait();
}

Holdings ShardedUpdate::holdings() const {
  const std::uint64_t parameters = arena_.parameters().nbytes(), gradients = arena_.gradients().nbytes();
  return {.parameters = parameters,
          .gradients = gradients,
          .peak_parameters = parameters,
          .peak_gradients = gradients,
          .whole_parameters = arena_.layout().parameter_bytes};
}

std::vector<std::uint64_t> ShardedUpdate::bounds_of(std::uint64_t offset, std::uint64_t bytes) const {
  return bounds_within(bounds_, offset, bytes, size_of(arena_.layout().dtype));
}

}  // namespace trainyard
