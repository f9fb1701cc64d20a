// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "devices/device_arena.h"
#include "tensors/tensor_update.h"

namespace trainyard::cuda {

/// Returns an update that makes one pass over all parameters, in a single kernel. It reads and writes every block once,
/// so that its time is that of the memory of the GPU. float32 results are bit-identical to those of the processor's
/// kernels, unless numbers are denormal.
std::unique_ptr<devices::Update> make_fused_update(const devices::UpdateRequest& request, UpdateBlocks blocks);

}  // namespace trainyard::cuda
