// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "devices/cuda/cuda_stream.h"
#include "devices/update.h"

namespace trainyard::cuda_device {

/// Returns an update of `regions`, as `request` describes it, that makes one pass over all parameters, in a single
/// kernel. It reads and writes every region once, so only the speed of the GPU's memory limits it. float32 results are
/// bit-identical to those of the processor's kernels, unless numbers are denormal.
std::unique_ptr<devices::Update> make_fused_update(CudaDevice& device, CudaStream& stream,
                                                   const devices::UpdateRequest& request,
                                                   devices::UpdateRegions regions);

}  // namespace trainyard::cuda_device
