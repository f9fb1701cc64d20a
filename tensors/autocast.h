// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace trainyard {

/// A scope in which suitable LibTorch operations of the current thread compute in the 16-bit `type`, while operations
/// that need more precision stay in float32. Converted weights are cached until the outermost Autocast is destroyed, so
/// weights must not be updated before that.
///
/// An Autocast is meant for the forward pass and the loss. The backward pass does not need an Autocast, because each
/// operation computes its gradient in the type of its forward pass.
class Autocast {
 public:
  /// Starts autocast to `type` for operations on devices of type `device`. Throws kUnsupported if this LibTorch has no
  /// autocast for such devices.
  Autocast(at::DeviceType device, at::ScalarType type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool was_enabled_;
  at::ScalarType previous_type_;
};

/// Returns the type to which autocast currently converts on devices of type `device` in this thread, or nullopt if it
/// is off.
std::optional<at::ScalarType> active_autocast(at::DeviceType device);

}  // namespace trainyard
