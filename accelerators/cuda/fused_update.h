// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "devices/device_arena.h"
#include "tensors/tensor_update.h"

namespace trainyard::cuda {

/// Returns an update of `blocks`, as `request` describes, that makes one pass over all parameters, in a single kernel.
/// The kernel reads and writes every block once, so only the speed of the GPU's memory limits its speed. float32
/// results are bit-identical to those of the processor's kernels, unless numbers are denormal.
std::unique_ptr<devices::Update> make_fused_update(const devices::UpdateRequest& request, UpdateBlocks blocks);

}  // namespace trainyard::cuda
