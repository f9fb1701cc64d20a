// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>

namespace trainyard::test_accelerator {

// The backend of LibTorch for test devices. It registers itself when this library is loaded: guard.cpp registers the
// devices and their memory, and operations.cpp registers the operations on tensors.

/// Returns the allocator of the current device. Operations such as `empty` use it.
c10::Allocator* allocator();

/// Returns the index of the device that is current in the calling thread.
int current_device();

}  // namespace trainyard::test_accelerator
