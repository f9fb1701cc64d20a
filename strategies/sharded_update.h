// SPDX-License-Identifier: Apache-2.0
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

/// The common part of the strategies `zero1` and `zero2`: every rank has all parameters but updates only its own part
/// of them. Afterwards the ranks send the updated parts to each other. A rank needs the optimizer's state only for its
/// own part.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
class ShardedUpdate {
 public:
  /// Returns the part of the flat blocks that `rank` updates in a run with `ranks` ranks.
  static ArenaShard shard_of(const ArenaLayout& layout, std::uint32_t rank, std::uint32_t ranks);

  ShardedUpdate(World& world, const Arena& arena, StepTrace* trace);

  /// Returns the bounds of the ranks' parts, in elements, for a collective operation over the `bytes` bytes at `offset`
  /// of a flat block.
  std::vector<std::uint64_t> bounds_of(std::uint64_t offset, std::uint64_t bytes) const;

  /// Gives every rank the parameters of all parts and the buffers of rank 0. If the run resumes, this is called after
  /// the ranks have restored their own parts.
  void synchronise(ArenaEdit& edit);

  /// Gives every rank the parameters of all parts. Called after the ranks have updated their own parts.
  void gather_parameters(ArenaEdit& edit);

  /// Returns the amount of memory that this rank holds for parameters and gradients, not counting additional memory of
  /// the strategy.
  Holdings holdings() const;

 private:
  World& world_;
  const Arena& arena_;
  StepTrace* trace_;
  /// The bounds of the ranks' parts of the flat blocks, in bytes; see shard_bounds.
  std::vector<std::uint64_t> bounds_;
};

}  // namespace trainyard
