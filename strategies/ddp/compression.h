// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "core/state/state.h"
#include "strategies/replica_strategy.h"

namespace trainyard::ddp {

/// The form in which the ranks of ddp send gradients to each other.
class Compression : public Stateful {
 public:
  /// By default a compression keeps nothing from step to step.
  void save_state(StateWriter& /*into*/) const override {}
  void restore_state(const StateReader& /*from*/) override {}

  /// The functions that ReplicaStrategy requires: `reduce` starts to average a bucket over all ranks, in place, and
  /// returns at once; `finish` completes it.
  virtual Work reduce(const Bucket& bucket, const at::Tensor& gradients) = 0;
  virtual void finish(const Bucket& bucket, const at::Tensor& gradients) = 0;
};

}  // namespace trainyard::ddp
