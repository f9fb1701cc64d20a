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

/// A group of parameters of which this rank has a part. It gathers the whole group from all ranks, in memory that the
/// caller lends, and reduces the gradients so that every rank gets its part.
class ShardedGroup {
 public:
  /// `parts` are the bounds of the ranks' parts of the flat block, in bytes (see shard_bounds). The model's parameters
  /// give up their memory; from now on they use the memory that is lent to the group.
  ShardedGroup(ParameterGroup group, const Arena& arena, const std::vector<NamedTensor>& parameters,
               std::span<const std::uint64_t> parts, RankGroup& ranks);

  std::uint64_t bytes() const { return group_.bytes; }
  /// Returns the number of elements that the group's memory must have. They have the parameters' type.
  std::int64_t elements() const { return block_.flat().numel(); }
  bool is_gathered() const { return block_.has_memory(); }
  bool is_coming() const { return coming_.defined(); }

  /// Starts to gather the parameters in `memory`, which has room for elements(). wait() waits until they are usable.
  void gather(const at::Tensor& memory);
  void wait();
  /// Releases the parameters.
  void release() { block_.take_back(); }

  /// Zeroes `memory` and makes autograd add the members' gradients to it, until reduce() is called.
  void collect_gradients(const at::Tensor& memory);
  /// Starts to average the gradients over the ranks.
  void reduce();
  /// Waits for the averages, then adds this rank's part of them to its gradients in the arena. Does nothing if no
  /// reduction is under way.
  void add_reduced();

 private:
  /// A run of the group's memory, in elements, of which this rank has a part.
  struct Part {
    std::int64_t place = 0;
    std::int64_t count = 0;
    std::vector<std::uint64_t> bounds;  ///< The bounds of all ranks' parts, counted from `place`.
    std::int64_t own_place = 0;         ///< This rank's part in the group's memory ...
    std::int64_t own_count = 0;
    std::int64_t shard_place = 0;  ///< ... and in the rank's blocks of the arena.
  };
  void cut(const Arena& arena, std::span<const std::uint64_t> parts);

  RankGroup& ranks_;
  ParameterGroup group_;
  std::vector<at::Tensor> members_;  ///< The parameters, in the order of `group_.members`.
  std::vector<Part> parts_;
  at::Tensor own_parameters_;  ///< This rank's part of all parameters, not only of this group.
  at::Tensor own_gradients_;
  BorrowedBlock block_;
  at::Tensor coming_;     ///< The memory in which parameters arrive.
  at::Tensor gradients_;  ///< The memory in which gradients are collected.
  std::vector<Work> under_way_;
};

}  // namespace trainyard::fsdp
