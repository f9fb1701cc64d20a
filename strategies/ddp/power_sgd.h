// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "strategies/ddp/compression.h"

namespace trainyard::ddp {

/// PowerSGD: the gradient of a matrix is sent as two thin matrices, which one power iteration finds, starting from
/// those of the last step. What is lost on a rank is added to its next gradient (error feedback), so nothing is lost
/// for good.
///
///     M = gradient + error      P = mean of M Q over ranks, orthonormalised
///     q = transposed(M) P       error = M - P transposed(q)
///     Q = mean of q             gradient = P transposed(Q)
///
/// Tensors that would not shrink to half their size, such as biases, are sent whole, together with the matrices P. All
/// ranks compute the same P and Q, bit for bit if they have the same processors. The method needs memory for an error
/// as large as the gradients.
///
/// Source: Vogels et al., "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization" (2019).
class PowerSgd final : public Compression {
 public:
  struct Options {
    std::int64_t rank = 2;  ///< The number of columns of P and Q.
    /// Gradients of earlier steps are sent whole. Steps are counted from the start of the run.
    std::uint64_t start_step = 0;
    std::uint64_t seed = 0;  ///< The seed of the first Q, which is the same on all ranks.
  };

  PowerSgd(RankGroup& ranks, const Arena& arena, const Options& options);

  /// The steps and Q are the same on all ranks, and the error is each rank's own.
  void save_state(StateWriter& into) const override;
  void restore_state(const StateReader& from) override;

  Work reduce(const Bucket& bucket, const at::Tensor& gradients) override;
  void finish(const Bucket& bucket, const at::Tensor& gradients) override;

 private:
  /// The state of the method for one parameter.
  struct Part {
    std::string name;                ///< The name of the parameter.
    std::uint64_t offset_bytes = 0;  ///< The place in the block of gradients.
    at::Tensor gradient;             ///< The gradient as a matrix; a vector is one row.
    bool whole = false;  ///< True if it is sent as it is, in the place of `p`. The members below are then unused.
    at::Tensor p, q;     ///< Views of the memory that is sent.
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
  /// Starts to average `place`, which is `p` or `q`, of all parts in `range` over the ranks. Does nothing if there are
  /// no parts.
  Work average_places(at::Tensor Part::*place, const Range& range);

  RankGroup& ranks_;
  Options options_;
  std::vector<Part> parts_;  ///< The parameters, in the order of the arena.
  std::uint64_t step_ = 0;
};

}  // namespace trainyard::ddp
