// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/DeviceType.h>

#include <cstddef>

#include "tensors/version.h"

#if TRAINYARD_TORCH_AT_LEAST(2, 1)
#include <ATen/detail/PrivateUse1HooksInterface.h>
#endif

// Everything about PrivateUse1 that differs between the supported versions of LibTorch. No other file in this folder
// depends on a version.
namespace xpu {

/// LibTorch's interface for allocators: `allocate` was const until 2.2; since then, `copy_data` is required.
class AllocatorBase : public c10::Allocator {
 public:
  virtual c10::DataPtr take(std::size_t bytes) const = 0;
  virtual void copy_on_device(void* to, const void* from, std::size_t bytes) const = 0;

#if TRAINYARD_TORCH_AT_LEAST(2, 3)
  c10::DataPtr allocate(std::size_t bytes) final { return take(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const final { copy_on_device(to, from, bytes); }
#else
  c10::DataPtr allocate(std::size_t bytes) const final { return take(bytes); }
#endif
};

#if TRAINYARD_TORCH_AT_LEAST(2, 1)
/// From 2.1 on, autograd asks whether a device has been used before it looks at its streams.
struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};
#endif

/// Tells LibTorch that PrivateUse1 is in use, and names it. The name cannot be "xpu", which is that of Intel's GPUs.
/// Before 2.1 the only name is "privateuseone".
inline void announce_backend() {
#if TRAINYARD_TORCH_AT_LEAST(2, 1)
  c10::register_privateuse1_backend("imaginary_xpu");
  at::RegisterPrivateUse1HooksInterface(new Hooks);  // LibTorch keeps it for as long as it lives.
#endif
}

}  // namespace xpu
