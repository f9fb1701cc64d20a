#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/strategy.h"

namespace trainyard {

/// In what form gradients travel between the ranks of ddp.
class Compression {
 public:
  virtual ~Compression() = default;

  /// Starts to average a bucket over all ranks, in place, and returns at once; what Strategy::reduce does.
  virtual Pending reduce(const Bucket& bucket, at::Tensor gradients) = 0;
};

}  // namespace trainyard
