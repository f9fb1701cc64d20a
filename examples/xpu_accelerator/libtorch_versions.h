// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/DeviceType.h>

#include <cstddef>

#include "tensors/version.h"

#if TRAINYARD_TORCH_AT_LEAST(2, 1)
#include <ATen/detail/PrivateUse1HooksInterface.h>
#endif

// Hides the differences between the supported versions of LibTorch that concern PrivateUse1, the device type that
// LibTorch reserves for backends outside of its source tree. No other file in this folder depends on the version.
namespace xpu {

/// The base class of the backend's allocator. It hides a difference in LibTorch's interface: up to version 2.2,
/// `allocate` is const; from 2.3 on, it is not, and `copy_data` is required.
class AllocatorBase : public c10::Allocator {
 public:
  /// Allocates memory on the current device.
  virtual c10::DataPtr take(std::size_t bytes) const = 0;
  /// Copies bytes from one address of the device to another.
  virtual void copy_on_device(void* to, const void* from, std::size_t bytes) const = 0;

#if TRAINYARD_TORCH_AT_LEAST(2, 3)
  c10::DataPtr allocate(std::size_t bytes) final { return take(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const final { copy_on_device(to, from, bytes); }
#else
  c10::DataPtr allocate(std::size_t bytes) const final { return take(bytes); }
#endif
};

#if TRAINYARD_TORCH_AT_LEAST(2, 1)
/// The hooks that LibTorch requires from version 2.1 on. Before autograd uses the streams of a device, it asks these
/// hooks whether the device has been initialised.
struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};
#endif

/// Registers the backend with LibTorch as the device type PrivateUse1, under the name "imaginary_xpu". The name "xpu"
/// is already used for Intel's GPUs. Before version 2.1, the device type needs no registration, and its name is always
/// "privateuseone".
inline void announce_backend() {
#if TRAINYARD_TORCH_AT_LEAST(2, 1)
  c10::register_privateuse1_backend("imaginary_xpu");
  at::RegisterPrivateUse1HooksInterface(new Hooks);  // LibTorch keeps the object until the process ends.
#endif
}

}  // namespace xpu
