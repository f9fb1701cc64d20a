// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/stage.h"
#include "tensors/arena.h"

namespace trainyard::fsdp {

/// A set of parameters that are gathered and freed together, and their positions in the memory in which they are
/// gathered. All offsets, places and sizes are in bytes.
struct ParameterGroup {
  /// Parameters that are contiguous in memory: `bytes` bytes that begin at `offset` in the block of all parameters, and
  /// at `place` in the memory of the group.
  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t place = 0;
  };
  struct Member {
    std::size_t parameter = 0;  ///< The index of the parameter in ArenaLayout::entries.
    std::uint64_t place = 0;    ///< Where the parameter begins in the memory of the group.
  };

  std::vector<Run> runs;
  std::vector<Member> members;
  std::uint64_t bytes = 0;  ///< The size of all runs, including padding.
};

/// Returns one group for every stage, with the parameters that belong to this stage alone, and finally one group with
/// the parameters that belong to several stages or to none.
std::vector<ParameterGroup> group_parameters(const std::vector<Stage>& stages, const ArenaLayout& layout);

}  // namespace trainyard::fsdp
