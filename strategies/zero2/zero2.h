// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "strategies/sharded_update.h"
#include "strategies/strategy.h"

namespace trainyard {

class GradientBuckets;
struct Bucket;

/// ZeRO, stage 2: the ranks divide the optimizer's state and the gradients among themselves. Gradients are reduced
/// bucket by bucket while the backward pass is still running; every rank keeps the averages of its own part, and the
/// rest is freed immediately. The gradients of every micro-batch are reduced, so steps with several micro-batches need
/// more communication than with `zero1`. The results are bit-identical to those of `ddp` if a step has only one
/// micro-batch, and otherwise equal up to rounding.
///
/// In addition to its part, a rank needs memory for the gradients that autograd allocates until a bucket is complete,
/// and for two buffers in which gradients are reduced.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
class Zero2 final : public Strategy {
 public:
  explicit Zero2(StrategyContext& context);
  ~Zero2() override;

  StrategyTraits traits() const override { return {.gradients = GradientsOfRanks::kParts}; }
  ArenaShard shard(const ArenaLayout& layout) const override;
  std::vector<Scalar> stats() const override { return holdings().scalars(); }

 protected:
  void prepare() override;
  void synchronise(ArenaEdit& edit) override { sharded_->synchronise(edit); }
  at::Tensor compute(const MicroBatch& batch) override;
  void complete_gradients() override;
  void drop_gradients(ArenaEdit& edit) override;
  void after_update(std::uint64_t step, ArenaEdit& edit) override;

 private:
  /// A contiguous range of the gradients, as offsets in bytes in a block that would contain all gradients.
  struct Run {
    std::uint64_t begin = 0, end = 0;
  };
  /// A buffer in which gradients are reduced, one range after another.
  struct Staging {
    at::Tensor memory;
    Run run;    ///< The range that is being reduced in the buffer; empty if there is none.
    Work work;  ///< The reduction of that range.
  };

  std::uint64_t piece_bytes() const;
  void reduce_bucket(const Bucket& bucket);
  void reduce_run(const Run& run, Staging& staging);
  void fill(const Run& run, const at::Tensor& memory) const;
  void finish(Staging& staging);
  void give_up_gradients(const Run& run) const;
  std::uint64_t bytes_of_gradients() const;
  Holdings holdings() const;

  Parameter<double> bucket_mb_{*this, "bucket_mb", 25,
                               "size of a bucket of gradients; 0 = the most allowed, half of what a rank keeps",
                               at_least(0) | in_unit("MiB")};
  std::optional<ShardedUpdate> sharded_;
  std::unique_ptr<GradientBuckets> buckets_;  ///< Null if there is only one rank.
  std::vector<NamedTensor> parameters_;
  std::array<Staging, 2> stagings_;
  std::size_t next_ = 0;          ///< The index of the buffer to use next.
  std::uint64_t peak_bytes_ = 0;  ///< The largest size of the gradients that autograd has held at a time.
  bool told_ = false;             ///< True once the memory use has been logged.
};

}  // namespace trainyard
