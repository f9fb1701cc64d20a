#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/replica_strategy.h"

namespace trainyard::ddp {

/// In what form gradients travel between the ranks of ddp.
class Compression {
 public:
  virtual ~Compression() = default;

  /// What ReplicaStrategy asks for: starts to average a bucket over all ranks, in place, and returns at once; then does
  /// what is left to do with it.
  virtual Work reduce(const Bucket& bucket, const at::Tensor& gradients) = 0;
  virtual void finish(const Bucket& bucket, const at::Tensor& gradients) = 0;
};

}  // namespace trainyard::ddp
