// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/DeviceType.h>

#include <cstddef>

#include "tensors/version.h"

#if TRAINYARD_TORCH_AT_LEAST(2, 1)
#include <ATen/detail/PrivateUse1HooksInterface.h>
#endif

// Everything about PrivateUse1 that differs between the supported versions of LibTorch. Nothing else in this folder
// asks for a version.
namespace xpu {

/// LibTorch's interface for allocators: `allocate` was const until 2.2, and `copy_data` is required since.
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

/// Tells LibTorch that PrivateUse1 is taken. Its name cannot be "xpu", which is that of Intel's GPUs. Before 2.1 its
/// only name is "privateuseone".
inline void announce_backend() {
#if TRAINYARD_TORCH_AT_LEAST(2, 1)
  c10::register_privateuse1_backend("imaginary_xpu");
  at::RegisterPrivateUse1HooksInterface(new Hooks);  // LibTorch keeps it for as long as it lives.
#endif
}

}  // namespace xpu
