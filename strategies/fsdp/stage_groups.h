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
/// reduces the stage's gradients so that every rank gets its part. The parameters that stages share form a group as
/// well, the last one.
///
/// Stages take turns in one piece of memory, or with `prefetch` in two, so that one can arrive while another is used.
class StageGroups {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  StageGroups(const std::vector<Stage>& stages, const std::vector<NamedTensor>& parameters, const Arena& arena,
              World& world, StepTrace* trace, bool prefetch);

  /// Waits until a stage is gathered. `next` is the stage that will be used after it, or kNone; with `prefetch`,
  /// gathering that one begins now.
  void use(std::size_t stage, std::size_t next);
  void release(std::size_t stage) { groups_[stage].release(); }
  void use_shared();
  void release_shared() { shared().release(); }

  /// Make autograd collect the gradients of a stage, or of the shared parameters, until they are reduced.
  void collect_gradients(std::size_t stage);
  void collect_shared_gradients() { shared().collect_gradients(shared_gradient_place_); }
  /// Start to average the collected gradients over the ranks. Only one group is reduced at a time, so the previous
  /// reduction is finished first.
  void reduce(std::size_t stage) { reduce(groups_[stage]); }
  void reduce_shared() { reduce(shared()); }
  /// Waits for the reduction under way, if there is one, and adds this rank's part to its gradients in the arena.
  void finish_reduction();

  /// Gathers all parameters at once, in additional memory, which release_all() releases.
  void gather_all();
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
