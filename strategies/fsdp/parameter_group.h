// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/stage.h"
#include "tensors/arena.h"

namespace trainyard::fsdp {

/// Parameters that are gathered and released at the same moments. All numbers are bytes.
struct ParameterGroup {
  /// A run of neighbours in the flat block of all parameters, and where it lies in the memory of the group.
  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t place = 0;
  };
  struct Member {
    std::size_t parameter = 0;  ///< Its index in the arena.
    std::uint64_t place = 0;    ///< The place in the memory of the group.
  };

  std::vector<Run> runs;
  std::vector<Member> members;
  std::uint64_t bytes = 0;  ///< The size of all runs, padding included.
};

/// Makes a group for every stage, of the parameters that only it uses, then one group of those that belong to several
/// stages or to none.
std::vector<ParameterGroup> group_parameters(const std::vector<Stage>& stages, const ArenaLayout& layout);

}  // namespace trainyard::fsdp
