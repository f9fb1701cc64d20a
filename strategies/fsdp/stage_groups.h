// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "strategies/fsdp/sharded_group.h"
#include "strategies/shards.h"
#include "strategies/step_trace.h"
#include "strategies/world.h"

namespace trainyard::fsdp {

/// The parameters of a model's stages, of which this rank has a part. This class gathers a stage before it is used, and
/// reduces the stage's gradients so that every rank gets its part. The parameters that several stages share are a
/// further group, the last one.
///
/// All stages use the same memory, one after another. With `prefetch` there are two such pieces of memory, so that one
/// stage can be gathered while another is used.
class StageGroups {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  StageGroups(const std::vector<Stage>& stages, const std::vector<NamedTensor>& parameters, const Arena& arena,
              World& world, StepTrace* trace, bool prefetch);

  /// Waits until `stage` is gathered. `next` is the stage that will be used after it, or kNone. With `prefetch`, the
  /// function also starts to gather `next`.
  void use(std::size_t stage, std::size_t next);
  void release(std::size_t stage) { groups_[stage].release(); }
  /// Waits until the shared parameters are gathered.
  void use_shared();
  void release_shared() { shared().release(); }

  /// Makes autograd collect the gradients of a stage until they are reduced.
  void collect_gradients(std::size_t stage);
  /// Makes autograd collect the gradients of the shared parameters until they are reduced.
  void collect_shared_gradients() { shared().collect_gradients(shared_gradient_place_); }
  /// Starts to average the collected gradients of a stage over the ranks. Only one group is reduced at a time, so the
  /// function first finishes the previous reduction.
  void reduce(std::size_t stage) { reduce(groups_[stage]); }
  /// Starts to average the collected gradients of the shared parameters, as reduce() does for a stage.
  void reduce_shared() { reduce(shared()); }
  /// Waits for the reduction in progress, if there is one, and adds this rank's part of the result to its gradients in
  /// the arena.
  void finish_reduction();

  /// Gathers all parameters of the model together, in additional memory.
  void gather_all();
  /// Releases all parameters and the additional memory of gather_all().
  void release_all();

  Holdings holdings() const;
  /// Returns a human-readable description: "largest group 4096, 2 in memory at a time; 128 shared by stages".
  std::string text() const;

 private:
  ShardedGroup& shared() { return groups_.back(); }
  void request(std::size_t stage);
  void reduce(ShardedGroup& group);

  const Arena& arena_;
  StepTrace* trace_;
  bool prefetch_;
  std::vector<ShardedGroup> groups_;  ///< One for each stage, and the shared one.
  std::vector<at::Tensor> places_;    ///< The memory in which stages are gathered, in turn.
  at::Tensor shared_place_;
  at::Tensor gradient_place_;
  at::Tensor shared_gradient_place_;
  ShardedGroup* reducing_ = nullptr;  ///< The group whose gradients are being reduced, or null.
};

}  // namespace trainyard::fsdp
