// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/replica_strategy.h"

namespace trainyard::ddp {

/// The form in which the ranks of ddp send gradients to each other.
class Compression {
 public:
  virtual ~Compression() = default;

  /// The functions that ReplicaStrategy requires: `reduce` starts to average a bucket over all ranks, in place, and
  /// returns at once; `finish` completes it.
  virtual Work reduce(const Bucket& bucket, const at::Tensor& gradients) = 0;
  virtual void finish(const Bucket& bucket, const at::Tensor& gradients) = 0;
};

}  // namespace trainyard::ddp
