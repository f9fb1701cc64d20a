// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// Decides, for each rank that trains in the memory of a device, whether its optimizer works there, too. Writes the
/// decision to the optimizer's parameter `memory`. The optimizer works on the device if it is in the same process as
/// the accelerator host (the component that computes losses and gradients), or if there is a device plugin with which
/// other processes can use the memory of the device (AcceleratorTraits::shares_memory_by), unless the strategy requires
/// that parameters are updated in host memory.
///
/// Returns a description of what is copied between host and device, for each rank that trains in the memory of a
/// device. Throws, with the position in the file, if the file gives memory = "device" where this is not possible.
///
/// `edges` are the edges of the run, whose transports must be known.
std::vector<MemoryFlow> settle_memory(std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges,
                                      Catalogue& catalogue);

}  // namespace trainyard::launch
