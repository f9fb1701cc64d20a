#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// While it lives, those LibTorch operations on this thread that gain from it compute in `type`; those that need more
/// precision stay in float32. Weights are converted once and kept until the end of its life, so it must not outlive an
/// update of them.
///
/// It is meant for the forward pass and the loss. Backward runs without it, with each gradient in the type of its
/// operation.
class Autocast {
 public:
  /// Throws kUnsupported for a kind of device for which this LibTorch has no autocast.
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
