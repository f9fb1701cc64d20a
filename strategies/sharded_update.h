#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plugin/plugin_context.h"
#include "strategies/shards.h"
#include "strategies/step_trace.h"
#include "strategies/world.h"
#include "tensors/arena.h"

namespace trainyard {

/// What zero1 and zero2 share: every rank has all parameters, but updates only its part of them; afterwards the ranks
/// give each other what they have updated. The optimizer's state is needed for the own part alone.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
class ShardedUpdate {
 public:
  /// The part of `rank` among `ranks`.
  static ArenaShard shard_of(const ArenaLayout& layout, std::uint32_t rank, std::uint32_t ranks);

  ShardedUpdate(World& world, const Arena& arena, StepTrace* trace);

  /// For a collective over `bytes` bytes at `offset` of a flat block: where the ranks' parts begin, in elements.
  std::vector<std::uint64_t> bounds_of(std::uint64_t offset, std::uint64_t bytes) const;

  /// Every rank has restored its own part, if there was a checkpoint; buffers are those of rank 0.
  void synchronise(ArenaEdit& edit);

  /// Every rank has updated its part: all get it.
  void gather_parameters(ArenaEdit& edit);

  /// What this rank holds without what a strategy needs beside it.
  Holdings holdings() const;

 private:
  World& world_;
  const Arena& arena_;
  StepTrace* trace_;
  std::vector<std::uint64_t> bounds_;  ///< Of the ranks' parts of the flat blocks, in bytes; see shard_bounds.
};

}  // namespace trainyard
