#pragma once

#include <cstdint>
#include <vector>

#include "strategies/shards.h"
#include "strategies/strategy.h"

namespace trainyard {

/// What zero1 and zero2 share: every rank has all parameters, but updates only its part of them; afterwards the ranks
/// give each other what they have updated. The optimizer's state is needed for the own part alone.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
class ShardedUpdate : public Strategy {
 public:
  explicit ShardedUpdate(StrategyContext& context) : Strategy(context) {}

  ArenaShard shard(const ArenaLayout& layout) const override;
  void set_up(const Replica& replica) override;
  void start() override;
  double sum_over_shards(double value) override;
  void end_update(std::uint64_t step) override;
  std::vector<Scalar> stats() const override { return holdings().scalars(); }

 protected:
  /// What this rank holds, as far as is known by now.
  virtual Holdings holdings() const;

  /// Where the ranks' parts of the flat blocks begin, in bytes; see shard_bounds.
  const std::vector<std::uint64_t>& bounds() const { return bounds_; }

  /// For a collective over `bytes` bytes at `offset` of a flat block, in elements.
  std::vector<std::uint64_t> bounds_of(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  void gather_parameters() const;

  std::vector<std::uint64_t> bounds_;
  bool told_ = false;  ///< What is held has been logged.
};

}  // namespace trainyard
