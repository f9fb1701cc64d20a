// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "strategies/ddp/compression.h"
#include "strategies/replica_strategy.h"

namespace trainyard {

/// Distributed data parallel: every rank has the whole model and a part of the data. Gradients are averaged in buckets
/// while the backward pass is still running, so all ranks make the same update.
///
/// If communication between ranks is slow, gradients can be compressed before they are sent, with some loss of
/// precision; see ddp::GradientForm.
///
/// Source: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training" (2020).
class Ddp final : public ReplicaStrategy {
 public:
  explicit Ddp(StrategyContext& context) : ReplicaStrategy(context) {}

  void save_state(StateWriter& into) const override;
  /// Restores the state of the compression `powersgd`; the other forms have none. A state that was saved with a
  /// different `powersgd_rank` does not fit: it is ignored, and a warning is logged.
  void restore_state(const StateReader& from) override;

 protected:
  std::uint64_t bucket_bytes() const override { return bucket_size_.bytes(); }
  void prepare_reduction() override { compression_ = make_compression(); }
  Work reduce(const Bucket& bucket, const at::Tensor& gradients) override;
  void finish(const Bucket& bucket, const at::Tensor& gradients) override;

 private:
  std::unique_ptr<ddp::Compression> make_compression() const;
  /// Returns a text that differs for compressions whose states are not compatible.
  std::string kind() const { return fmt::format("{} of rank {}", name_of(*form_), *powersgd_rank_); }

  BucketSize bucket_size_{*this};
  Parameter<ddp::GradientForm> form_{*this, "compression", ddp::GradientForm::kFull,
                                     "the form in which gradients are sent"};
  Parameter<std::int64_t> powersgd_rank_{*this, "powersgd_rank", 2,
                                         "powersgd: columns of each of the two thin matrices", at_least(1)};
  Parameter<std::int64_t> powersgd_start_step_{*this, "powersgd_start_step", 100,
                                               "powersgd: steps at the start that are not compressed",
                                               at_least(0) | in_unit("steps")};

  std::unique_ptr<ddp::Compression> compression_;  ///< Null if gradients are not compressed.
};

}  // namespace trainyard
