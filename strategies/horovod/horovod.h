// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strategies/half_gradients.h"
#include "strategies/replica_strategy.h"

namespace trainyard::horovod {

/// The forms in which ranks can send gradients to each other: unchanged, or rounded to float16.
enum class GradientForm : std::uint8_t { kFull, kFp16 };
constexpr auto words_of(GradientForm) { return words("form of gradients", "none", "fp16"); }

}  // namespace trainyard::horovod

namespace trainyard {

/// Data parallel training with tensor fusion, as in Horovod. Gradients are not divided into fixed buckets. Instead, all
/// gradients that are ready on all ranks at the end of a cycle are averaged together.
///
/// Horovod has a coordinator; here the ranks vote instead. In each cycle, they compute the smallest number of gradients
/// that any rank has ready (with an all_reduce of one number), and then average that many gradients. Gradients become
/// ready in the reverse order of their position in memory, so the gradients that are averaged together are contiguous
/// and need not be copied.
///
/// Deadlocks are not possible: votes and reductions are asynchronous, and all ranks start them in the same order,
/// because the result of each vote, which is the same on all ranks, determines what they start next. The number of
/// votes, and which gradients are averaged together, depend on timing. The averages do not, provided that the
/// collective adds the values in the order of the ranks.
///
/// Source: Sergeev and Del Balso, "Horovod: fast and easy distributed deep learning in TensorFlow" (2018).
class Horovod final : public ReplicaStrategy {
 public:
  explicit Horovod(StrategyContext& context) : ReplicaStrategy(context) {}

  std::vector<Scalar> stats() const override;

 protected:
  /// Makes every parameter a separate bucket, so that reduce() is called for each gradient. Only a parameter without
  /// elements has no bucket of its own; below, "a gradient" means a bucket.
  std::uint64_t bucket_bytes() const override { return 1; }
  void prepare_reduction() override;
  Work reduce(const Bucket& bucket, const at::Tensor& gradients) override;
  void progress() override;
  void complete_reduction() override;

 private:
  using Clock = std::chrono::steady_clock;

  /// A reduction of neighbouring gradients that are averaged together.
  struct Fused {
    at::Tensor gradients;
    Work work;
  };

  void vote();
  void count_votes();
  bool time_to_vote() const;
  void reduce_up_to(std::size_t end);
  void reduce_fused(std::size_t begin, std::size_t end);
  std::uint64_t bytes_between(std::size_t begin, std::size_t end) const;

  Parameter<double> cycle_time_ms_{*this, "cycle_time_ms", 1, "time between two votes on what to reduce next",
                                   at_least(0) | in_unit("ms")};
  Parameter<double> fusion_mb_{*this, "fusion_mb", 64,
                               "most gradients reduced together; once this much is ready, the next vote does not wait",
                               positive() | in_unit("MiB")};
  Parameter<horovod::GradientForm> form_{*this, "compression", horovod::GradientForm::kFull,
                                         "the form in which gradients are sent"};

  std::optional<HalfGradients> half_;  ///< Set if gradients are compressed.

  // The following fields describe the current step. Gradients are numbered in the order in which they become ready.
  std::vector<Bucket> ready_;      ///< The gradients that are ready on this rank.
  std::size_t total_ = 0;          ///< The number of gradients of the whole model. Set by reduce().
  std::size_t sent_ = 0;           ///< The number of gradients whose reduction has begun. It is the same on all ranks.
  std::vector<Fused> reductions_;  ///< The reductions that have begun.
  std::optional<Work> voting_;     ///< The vote in progress.
  /// During a vote, the number of gradients that are ready on this rank; after it, the smallest such number of all
  /// ranks.
  std::int64_t ballot_ = 0;
  Clock::time_point last_vote_;
  std::uint64_t votes_ = 0;
  std::uint64_t fused_ = 0;  ///< The number of reductions in the most recent step.
};

}  // namespace trainyard
