// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainyard::launch {

/// What the planner must know about the machine on which a plan would run.
struct Machine {
  /// The memory that a run may use at most: that of the machine, or less if a control group limits this process; 0 if
  /// it cannot be found out.
  std::uint64_t memory_bytes = 0;
};

/// Returns what is known about this machine.
Machine this_machine();

}  // namespace trainyard::launch
