#pragma once

#include <array>
#include <memory>

#include "strategies/sharded_update.h"

namespace trainyard {

/// ZeRO, stage 2: the optimizer's state and the gradients are shared out. What backward has finished is reduced bucket
/// by bucket, every rank keeps the averages of its part, and the rest is given up at once. Every micro-batch is
/// reduced, so accumulating costs traffic here. The same numbers as with ddp, bit for bit without accumulation.
///
/// Beyond its part a rank needs two pieces of memory in which gradients are reduced, and whatever autograd holds until
/// a bucket is complete.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
class Zero2 final : public ShardedUpdate {
 public:
  explicit Zero2(StrategyContext& context);
  ~Zero2() override;

  ArenaShard shard(const ArenaLayout& layout) const override;
  void set_up(const Replica& replica) override;
  at::Tensor train(const ModelBatch& batch, double weight, bool last) override;
  void train_nothing(bool last) override;
  void finish_gradients() override;
  void drop_gradients() override;

 protected:
  Holdings holdings() const override;

 private:
  /// A run of the gradients, in bytes of the whole block.
  struct Run {
    std::uint64_t begin = 0, end = 0;
  };
  /// Memory in which one run after another is reduced.
  struct Staging {
    at::Tensor memory;
    Run run;          ///< What is in it; empty: nothing.
    Pending pending;  ///< Its reduction.
  };

  std::uint64_t piece_bytes() const;
  void reduce_bucket(const Bucket& bucket);
  void reduce_run(const Run& run, Staging& staging);
  void fill(const Run& run, const at::Tensor& memory) const;
  void finish(Staging& staging);
  void give_up_gradients(const Run& run) const;
  std::uint64_t bytes_of_gradients() const;

  Parameter<double> bucket_mb_{*this, "bucket_mb", 25,
                               "gradients reduced as one; at most half of what a rank keeps, which 0 stands for",
                               at_least(0) | in_unit("MiB")};
  std::unique_ptr<GradientBuckets> buckets_;  ///< Null for a single rank, which has nobody to share with.
  std::vector<NamedTensor> parameters_;
  std::array<Staging, 2> stagings_;
  std::size_t next_ = 0;          ///< The staging memory that has waited longest.
  std::uint64_t peak_bytes_ = 0;  ///< The most that autograd has held.
};

}  // namespace trainyard
