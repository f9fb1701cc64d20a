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

/// The common part of the strategies `zero1` and `zero2`: every rank has all parameters, but its optimizer updates only
/// one part of them, and so keeps state only for this part. Afterwards the ranks send the updated parts to each other.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
class ShardedUpdate {
 public:
  /// Returns the part of the parameters that `rank` updates in a run with `ranks` ranks.
  static ArenaShard shard_of(const ArenaLayout& layout, std::uint32_t rank, std::uint32_t ranks);

  ShardedUpdate(World& world, const Arena& arena, StepTrace* trace);

  /// Returns the bounds of the ranks' parts within the `bytes` bytes at `offset` of the flat block of parameters or
  /// gradients. The bounds are in elements, counted from `offset`, as collective operations expect them.
  std::vector<std::uint64_t> bounds_of(std::uint64_t offset, std::uint64_t bytes) const;

  /// Called before the first step. Collects the parts of all ranks, so that every rank has all parameters, and copies
  /// the buffers of rank 0 to all ranks. If the run resumes, each rank has already restored its own part.
  void synchronise(ArenaEdit& edit);

  /// Called after each update. Collects the parts of all ranks, so that every rank has all updated parameters.
  void gather_parameters(ArenaEdit& edit);

  /// Returns how much memory this rank uses for parameters and gradients, not counting additional memory of the
  /// strategy.
  Holdings holdings() const;

 private:
  World& world_;
  const Arena& arena_;
  StepTrace* trace_;
  /// The bounds of the ranks' parts, in bytes; see shard_bounds().
  std::vector<std::uint64_t> bounds_;
};

}  // namespace trainyard
