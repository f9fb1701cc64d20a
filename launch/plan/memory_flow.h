// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// Decides, for each rank whose device has its own memory, whether the optimizer updates the parameters there or in
/// host memory. Writes the decision to the optimizer's parameter `memory`. The optimizer works on the device unless one
/// of these is the case:
///
/// * The file gives memory = "host", or the optimizer has no parameter `memory`.
/// * The strategy requires that parameters are updated in host memory.
/// * The optimizer and the accelerator host (the component that computes losses and gradients) are in different
///   processes, and either no installed device plugin lets processes share the memory of the device
///   (AcceleratorTraits::shares_memory_by), or the optimizer does not send the accelerator host the message
///   OptimizerState.
///
/// Returns a description of what is copied between host and device, for each of these ranks. Throws, with the position
/// in the file, if the file gives memory = "device" where this is not possible.
///
/// `edges` are the edges of the run, whose transports must be known.
std::vector<MemoryFlow> settle_memory(std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges,
                                      Catalogue& catalogue);

}  // namespace trainyard::launch
