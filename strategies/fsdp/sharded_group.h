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

/// A group of parameters of which this rank has a part. It gathers the whole from all ranks, in memory that is lent to
/// it, and gives every rank its part of the gradients.
class ShardedGroup {
 public:
  /// `parts` says where the ranks' parts of the flat block begin, in bytes. The model's parameters lose their memory:
  /// from now on they have what is lent to them.
  ShardedGroup(ParameterGroup group, const Arena& arena, const std::vector<NamedTensor>& parameters,
               std::span<const std::uint64_t> parts, RankGroup& ranks);

  std::uint64_t bytes() const { return group_.bytes; }
  /// Returns the number of elements, of the parameters' type.
  std::int64_t elements() const { return block_.flat().numel(); }
  bool is_gathered() const { return block_.has_memory(); }
  bool is_coming() const { return coming_.defined(); }

  /// Starts to gather the parameters in `memory`, which has room for them. wait() makes them usable.
  void gather(const at::Tensor& memory);
  void wait();
  /// Releases the parameters.
  void release() { block_.take_back(); }

  /// Makes autograd add the gradients of the members to `memory`, which is zeroed, until reduce().
  void collect_gradients(const at::Tensor& memory);
  /// Starts to average the gradients over the ranks.
  void reduce();
  /// Waits for that, then adds this rank's part to its gradients in the arena. Does nothing if nothing is under way.
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
  std::vector<at::Tensor> members_;  ///< As in `group_.members`.
  std::vector<Part> parts_;
  at::Tensor own_parameters_;  ///< This rank's, of all groups.
  at::Tensor own_gradients_;
  BorrowedBlock block_;
  at::Tensor coming_;     ///< The memory in which parameters arrive.
  at::Tensor gradients_;  ///< The memory in which gradients are collected.
  std::vector<Work> under_way_;
};

}  // namespace trainyard::fsdp
