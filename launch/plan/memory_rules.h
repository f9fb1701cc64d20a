// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/machine.h"

namespace trainyard::launch {

/// Throws if the processes on host 0 need more memory than `machine` has. The error looks like this:
///
///    command line: topology.devices: 500 needs at least 73.2 GiB of memory, without model and data, and this machine
///    has 23.4 GiB; ...
///
/// Only the memory that the components declare (ComponentTraits::memory_bytes) and a small amount for each process are
/// counted. The sizes of the model and the data are not known here, so a run that is accepted can still be too large.
///
/// Does nothing if `topology.overcommit` is true. place() must already have been called for the drafts, which are the
/// components while they are being planned.
void check_memory(const LaunchFile& file, const std::vector<Draft>& drafts, const Machine& machine);

}  // namespace trainyard::launch
