// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/state/state.h"
#include "messages/words.h"
#include "strategies/replica_strategy.h"

namespace trainyard::ddp {

/// The forms in which ranks can send gradients to each other.
enum class GradientForm : std::uint8_t {
  kFull,      ///< Not compressed.
  kFp16,      ///< Rounded to float16: half the bytes, 11 significant bits (half_gradients.h).
  kBf16,      ///< Rounded to bfloat16: half the bytes, 8 significant bits.
  kPowerSgd,  ///< Approximated by two thin matrices (power_sgd.h).
};
constexpr auto words_of(GradientForm) { return words("form of gradients", "none", "fp16", "bf16", "powersgd"); }

/// Averages gradients over the ranks in a compressed form.
class Compression : public Stateful {
 public:
  /// Saves the values that the compression keeps from step to step. By default there are none.
  void save_state(StateWriter& /*into*/) const override {}
  /// Restores the values that save_state() saved.
  void restore_state(const StateReader& /*from*/) override {}

  /// Starts to average a bucket of gradients over all ranks and returns immediately; see ReplicaStrategy::reduce. The
  /// gradients have already been multiplied by `loss_scale`, which can differ from step to step. A compression that
  /// keeps values from step to step must therefore keep them without this factor.
  virtual Work reduce(const Bucket& bucket, const at::Tensor& gradients, double loss_scale) = 0;
  /// Called with the arguments of reduce() when the Work that reduce() returned is finished. Writes the means into
  /// `gradients`, unless they are already there.
  virtual void finish(const Bucket& bucket, const at::Tensor& gradients, double loss_scale) = 0;
};

}  // namespace trainyard::ddp
