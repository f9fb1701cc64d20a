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
// LibTorch reserves for backends outside of its source tree.
namespace trainyard::test_accelerator {

/// The base class of the allocator. Up to version 2.2, `allocate` is const; from 2.3 on, it is not, and `copy_data` is
/// required.
class AllocatorBase : public c10::Allocator {
 public:
  /// Allocates memory on the current device.
  virtual c10::DataPtr take(std::size_t bytes) const = 0;
  /// Copies bytes within the memory of the current device.
  virtual void copy_within(void* to, const void* from, std::size_t bytes) const = 0;

#if TRAINYARD_TORCH_AT_LEAST(2, 3)
  c10::DataPtr allocate(std::size_t bytes) final { return take(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const final { copy_within(to, from, bytes); }
#else
  c10::DataPtr allocate(std::size_t bytes) const final { return take(bytes); }
#endif
};

#if TRAINYARD_TORCH_AT_LEAST(2, 1)
/// LibTorch asks these questions from version 2.1 on, before autograd uses the device.
struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};
#endif

/// Tells LibTorch that PrivateUse1 is a device and, from version 2.1 on, that its name is "test_device". Before, the
/// name is always "privateuseone".
inline void announce_backend() {
#if TRAINYARD_TORCH_AT_LEAST(2, 1)
  c10::register_privateuse1_backend("test_device");
  at::RegisterPrivateUse1HooksInterface(new Hooks);  // LibTorch keeps the object until the process ends.
#endif
}

}  // namespace trainyard::test_accelerator
