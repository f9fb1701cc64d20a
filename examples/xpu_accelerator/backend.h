// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace xpu {

// The LibTorch backend of the imaginary card. It registers itself when this library is loaded: guard.cpp registers the
// devices and their memory, and kernels.cpp registers the operations on tensors.

/// Counts of operations and copied bytes since the library was loaded.
struct Counters {
  std::uint64_t kernels = 0;    ///< The number of operations on the device's tensors.
  std::uint64_t bytes_in = 0;   ///< The number of bytes copied from the host.
  std::uint64_t bytes_out = 0;  ///< The number of bytes copied to the host.
};

/// Returns the counts for all devices together.
Counters counters();

/// Returns the allocator of the current device. Operations such as `empty` use it.
c10::Allocator* allocator();

/// Returns the index of the device that is current in the calling thread.
int current_device();

}  // namespace xpu
