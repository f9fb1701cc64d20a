// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace xpu {

// The backend registers itself with LibTorch when this library is loaded. guard.cpp registers the devices and their
// memory, kernels.cpp the operations on tensors.

/// Counts events since the library was loaded.
struct Counters {
  std::uint64_t kernels = 0;    ///< The number of operations on tensors of the device.
  std::uint64_t bytes_in = 0;   ///< The number of bytes copied from the host.
  std::uint64_t bytes_out = 0;  ///< The number of bytes copied to the host.
};
Counters counters();

/// Returns the allocator of the current device, for `empty` and similar operations.
c10::Allocator* allocator();

/// Returns the device on which this thread works.
int current_device();

}  // namespace xpu
