// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/machine.h"

namespace trainyard::launch {

/// Refuses a run whose processes need more memory than the machine has, before the first of them is started. The need
/// is that of the processes themselves, as the components declare it (ComponentTraits::memory_bytes); model and data
/// come on top and are not known here, so a run that passes may still be too large.
///
///    command line: topology.devices: 500 ranks need at least 73.2 GiB of memory, and this machine has 23.4 GiB; ...
///
/// `topology.overcommit = true` accepts such a run. The drafts must have been placed.
void check_memory(const LaunchFile& file, const std::vector<Draft>& drafts, const Machine& machine);

}  // namespace trainyard::launch
