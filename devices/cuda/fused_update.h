// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "devices/cuda/cuda_stream.h"
#include "devices/update.h"

namespace trainyard::cuda_device {

/// Returns an update of `regions`, as `request` describes it. Each call of its run() makes one pass over all
/// parameters, in a single kernel (in several, if there are more than kSets different sets of coefficients; see
/// update_kernel.h). Every element is read and written once, so the speed is limited only by the bandwidth of the GPU's
/// memory. float32 results are
/// bit-identical to those of the processor's kernels, unless numbers are denormal. Throws kInternal if a region does
/// not begin at a multiple of 16 bytes.
std::unique_ptr<devices::Update> make_fused_update(CudaDevice& device, CudaStream& stream,
                                                   const devices::UpdateRequest& request,
                                                   devices::UpdateRegions regions);

}  // namespace trainyard::cuda_device
