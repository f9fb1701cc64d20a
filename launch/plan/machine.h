// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainyard::launch {

/// What the planner's checks need to know about a machine.
struct Machine {
  /// The memory that a run can use: the machine's memory, or the limit of this process's control group if that is
  /// lower; 0 if it is unknown.
  std::uint64_t memory_bytes = 0;
};

/// Returns the facts about the machine on which this process runs.
Machine this_machine();

}  // namespace trainyard::launch
