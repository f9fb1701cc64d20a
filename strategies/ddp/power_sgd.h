#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "strategies/ddp/compression.h"

namespace trainyard::ddp {

/// PowerSGD: the gradient of a matrix travels as two thin ones, the best that one power iteration finds in the
/// direction of the last step's. What is lost on a rank is added to its next gradient (error feedback), so nothing is
/// lost for good.
///
///     M = gradient + error      P = mean of M Q over ranks, orthonormalised
///     q = transposed(M) P       error = M - P transposed(q)
///     Q = mean of q             gradient = P transposed(Q)
///
/// Tensors that would not become half as large at least, such as biases, travel whole beside the P. All ranks compute
/// the same P and Q, bit for bit where they have the same processors. Costs an error as large as the gradients.
///
/// Source: Vogels et al., "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization" (2019).
class PowerSgd final : public Compression {
 public:
  struct Options {
    std::int64_t rank = 2;         ///< Columns of P and Q.
    std::uint64_t start_step = 0;  ///< Steps before that travel whole, counted from the start of this process.
    std::uint64_t seed = 0;        ///< Of the first Q; the same on all ranks.
  };

  PowerSgd(RankGroup& ranks, const Arena& arena, const Options& options);

  Work reduce(const Bucket& bucket, const at::Tensor& gradients) override;
  void finish(const Bucket& bucket, const at::Tensor& gradients) override;

 private:
  /// One parameter.
  struct Part {
    std::uint64_t offset_bytes = 0;  ///< In the block of gradients.
    at::Tensor gradient;             ///< As a matrix; one row for a vector.
    bool whole = false;              ///< It travels as it is, in the place of `p`, and has nothing of the rest.
    at::Tensor p, q;                 ///< In the memory that travels.
    at::Tensor error;
  };
  /// Those of a bucket: neighbours.
  struct Range {
    std::size_t begin = 0, end = 0;
  };

  Part make_part(const ArenaEntry& entry, const at::Tensor& gradients) const;
  void lay_out(at::ScalarType type);
  void draw_start(std::size_t part);
  Range parts_of(const Bucket& bucket) const;
  bool travels_whole() const { return step_ <= options_.start_step; }
  void start_anew(const Range& range);
  /// The mean over all ranks of neighbouring places; nothing if there are none.
  Work average_places(at::Tensor Part::*place, const Range& range);

  RankGroup& ranks_;
  Options options_;
  std::vector<Part> parts_;  ///< In the order of the arena.
  std::uint64_t step_ = 0;
};

}  // namespace trainyard::ddp
