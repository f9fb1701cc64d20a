#pragma once

#include <cstdint>
#include <vector>

#include "models/stage.h"
#include "tensors/arena.h"

namespace trainyard::fsdp {

/// Parameters that are brought together, and let go, at the same moments. All numbers are bytes.
struct ParameterGroup {
  /// A run of neighbours in the flat block of all parameters, and where it lies in the memory of the group.
  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t place = 0;
  };
  struct Member {
    std::size_t parameter = 0;  ///< Its number in the arena.
    std::uint64_t place = 0;    ///< In the memory of the group.
  };

  std::vector<Run> runs;
  std::vector<Member> members;
  std::uint64_t bytes = 0;  ///< Of all runs, padding included.
};

/// A group for every stage, of the parameters that it alone uses; then one of those that belong to several stages or
/// to none.
std::vector<ParameterGroup> group_parameters(const std::vector<Stage>& stages, const ArenaLayout& layout);

}  // namespace trainyard::fsdp
