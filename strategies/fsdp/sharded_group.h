// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "strategies/fsdp/parameter_group.h"
#include "strategies/rank_group.h"
#include "tensors/borrowed_block.h"

namespace trainyard::fsdp {

/// A group of parameters of which every rank keeps a part. gather() collects the parts of all ranks in memory that the
/// caller provides, and reduce() averages the gradients over the ranks so that every rank gets its part. Only one of
/// these two operations can be in progress at a time: wait() must be called before reduce(), and add_reduced() before
/// gather().
class ShardedGroup {
 public:
  /// `parts` contains the bounds, in bytes, that divide the block of all parameters among the ranks (see
  /// shard_bounds()). The constructor frees the memory of the group's parameters. Between gather() and release(), these
  /// parameters are views of the memory that was passed to gather().
  ShardedGroup(ParameterGroup group, const Arena& arena, const std::vector<NamedTensor>& parameters,
               std::span<const std::uint64_t> parts, RankGroup& ranks);

  std::uint64_t bytes() const { return group_.bytes; }
  /// Returns the minimum number of elements that the memory passed to gather() or collect_gradients() must have. The
  /// elements have the type of the parameters.
  std::int64_t elements() const { return block_.flat().numel(); }
  /// Returns true if the parameters can be used.
  bool is_gathered() const { return block_.has_memory(); }
  /// Returns true between gather() and wait().
  bool is_coming() const { return coming_.defined(); }

  /// Starts to gather the group's parameters from all ranks in `memory`, and returns immediately. Call wait() before
  /// the parameters are used.
  void gather(const at::Tensor& memory);
  /// Waits until the parameters are gathered, so that they can be used.
  void wait();
  /// Makes the parameters unusable. The caller may then use the memory that was passed to gather() for something else.
  void release() { block_.take_back(); }

  /// Zeroes `memory`, and makes autograd add the group's gradients to it until reduce() is called.
  void collect_gradients(const at::Tensor& memory);
  /// Starts to average the collected gradients over the ranks, and returns immediately.
  void reduce();
  /// Waits for the averages, and then adds this rank's part of them to the gradients that the rank keeps. Does nothing
  /// if no reduction is in progress.
  void add_reduced();

 private:
  /// A contiguous range of the group's memory, and this rank's part of it. All numbers are in elements.
  struct Part {
    std::int64_t place = 0;
    std::int64_t count = 0;
    std::vector<std::uint64_t> bounds;  ///< The bounds of all ranks' parts, counted from `place`.
    std::int64_t own_place = 0;         ///< Where this rank's part begins in the group's memory.
    std::int64_t own_count = 0;
    /// Where this rank's part begins in its blocks of parameters and gradients, which contain only the rank's own
    /// parts.
    std::int64_t shard_place = 0;
  };
  void cut(const Arena& arena, std::span<const std::uint64_t> parts);

  RankGroup& ranks_;
  ParameterGroup group_;
  std::vector<at::Tensor> members_;  ///< The parameters, in the order of `group_.members`.
  std::vector<Part> parts_;
  at::Tensor own_parameters_;  ///< This rank's part of all parameters of the model, not only of this group.
  at::Tensor own_gradients_;
  BorrowedBlock block_;
  at::Tensor coming_;     ///< The memory into which parameters are being gathered; undefined if none are.
  at::Tensor gradients_;  ///< The memory in which gradients are collected.
  std::vector<Work> under_way_;
};

}  // namespace trainyard::fsdp
