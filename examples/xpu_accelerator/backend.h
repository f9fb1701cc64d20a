// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace xpu {

// The backend registers itself with LibTorch when this library is loaded. guard.cpp registers the devices and their
// memory, kernels.cpp what can be done with tensors there.

/// Counts what has happened since the library was loaded.
struct Counters {
  std::uint64_t kernels = 0;    ///< Operations on tensors of the device.
  std::uint64_t bytes_in = 0;   ///< Copied from the host.
  std::uint64_t bytes_out = 0;  ///< Copied to the host.
};
Counters counters();

/// Allocates memory on the current device, for `empty` and its relatives.
c10::Allocator* allocator();

/// Returns the device on which this thread works.
int current_device();

}  // namespace xpu
