// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "strategies/ddp/compression.h"

namespace trainyard::ddp {

/// PowerSGD: instead of a matrix M of gradients, the ranks send two thin matrices P and Q, whose product approximates
/// M. One power iteration computes them from the Q of the previous step. The error, which is the difference between M
/// and its approximation, is added to the gradient of the next step (error feedback), so what the approximation leaves
/// out is not lost but only delayed.
///
///     M = gradient + error      P = mean of M Q over ranks, orthonormalised
///     q = transposed(M) P       error = M - P transposed(q)
///     Q = mean of q             gradient = P transposed(Q)
///
/// The gradient is divided by the loss scale before the error is added, and the approximation is multiplied by the loss
/// scale again. So the error can be used in later steps, whose loss scale may be different. If loss scales are powers
/// of two, as they are by default, this causes no rounding.
///
/// If P and Q together would be larger than half of M, as for biases, the gradient is sent uncompressed, in the same
/// operation as the matrices P. All ranks compute the same P and Q, bit for bit if their processors are of the same
/// kind. The error takes as much memory on each rank as the gradients.
///
/// Source: Vogels et al., "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization" (2019).
class PowerSgd final : public Compression {
 public:
  struct Options {
    std::int64_t rank = 2;  ///< The number of columns of P and Q.
    /// The number of steps at the start of the run whose gradients are sent uncompressed.
    std::uint64_t start_step = 0;
    std::uint64_t seed = 0;  ///< The seed of the first Q, which is the same on all ranks.
  };

  PowerSgd(RankGroup& ranks, const Arena& arena, const Options& options);

  /// Saves the number of steps and Q, which are the same on all ranks, and the error of this rank.
  void save_state(StateWriter& into) const override;
  void restore_state(const StateReader& from) override;

  Work reduce(const Bucket& bucket, const at::Tensor& gradients, double loss_scale) override;
  void finish(const Bucket& bucket, const at::Tensor& gradients, double loss_scale) override;

 private:
  /// The state for one parameter.
  struct Part {
    std::string name;                ///< The name of the parameter.
    std::uint64_t offset_bytes = 0;  ///< The offset in the block of gradients.
    at::Tensor gradient;             ///< The gradient as a matrix; a vector becomes a single row.
    /// True if the gradient is sent uncompressed, in the memory of `p`. `q` and `error` are then unused.
    bool whole = false;
    at::Tensor p, q;  ///< The matrices P and Q. They are views of the memory that is sent.
    at::Tensor error;
  };
  /// The parameters of a bucket, as a range of `parts_`.
  struct Range {
    std::size_t begin = 0, end = 0;
  };

  Part make_part(const ArenaEntry& entry, const at::Tensor& gradients) const;
  void lay_out(at::ScalarType type);
  void draw_start(std::size_t part);
  Range parts_of(const Bucket& bucket) const;
  bool travels_whole() const { return step_ <= options_.start_step; }
  void start_anew(const Range& range);
  /// Starts to average either all P or all Q of the parameters in `range` over the ranks. `place` is `&Part::p` or
  /// `&Part::q`. Does nothing if the range is empty.
  Work average_places(at::Tensor Part::*place, const Range& range);

  RankGroup& ranks_;
  Options options_;
  std::vector<Part> parts_;  ///< The parameters, in the order of the flat block.
  std::uint64_t step_ = 0;
};

}  // namespace trainyard::ddp
