// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// A guard for autocast. While it exists, suitable LibTorch operations on its thread compute in `type`, and operations
/// that need more precision compute in float32. Weights are converted once and cached until the guard is destroyed, so
/// they must not be updated before that.
///
/// Use it for the forward pass and the loss. The backward pass does not need it, because each gradient has the type of
/// its operation.
class Autocast {
 public:
  /// Starts autocast to `type`. Throws kUnsupported if this LibTorch has no autocast for devices of this type.
  Autocast(at::DeviceType device, at::ScalarType type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool was_enabled_;
  at::ScalarType previous_type_;
};

}  // namespace trainyard
