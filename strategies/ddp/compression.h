// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/state/state.h"
#include "messages/words.h"
#include "strategies/replica_strategy.h"

namespace trainyard::ddp {

/// The forms in which the ranks of ddp can send gradients to each other.
enum class GradientForm : std::uint8_t {
  kFull,      ///< Unchanged, as they are in the arena.
  kFp16,      ///< Rounded to float16.
  kBf16,      ///< Rounded to bfloat16.
  kPowerSgd,  ///< As two thin matrices (power_sgd.h).
};
constexpr auto words_of(GradientForm) { return words("form of gradients", "none", "fp16", "bf16", "powersgd"); }

/// A compression of the gradients that the ranks of ddp send to each other.
class Compression : public Stateful {
 public:
  /// Saves the values that the compression keeps from step to step. By default there are none.
  void save_state(StateWriter& /*into*/) const override {}
  /// Restores the values that save_state() saved.
  void restore_state(const StateReader& /*from*/) override {}

  /// Starts to average a bucket over all ranks, in place, and returns immediately; see ReplicaStrategy::reduce. The
  /// gradients are multiplied by `loss_scale`, which the state of the compression must not contain.
  virtual Work reduce(const Bucket& bucket, const at::Tensor& gradients, double loss_scale) = 0;
  /// Completes the bucket; see ReplicaStrategy::finish. `loss_scale` is the same as for reduce().
  virtual void finish(const Bucket& bucket, const at::Tensor& gradients, double loss_scale) = 0;
};

}  // namespace trainyard::ddp
