// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "strategies/fsdp/sharded_group.h"
#include "strategies/shards.h"
#include "strategies/step_trace.h"
#include "strategies/world.h"

namespace trainyard::fsdp {

/// The parameters of a model's stages, of which this rank has a part. It gathers a stage before it is used, and gives
/// every rank its part of a stage's gradients. What stages share is a group as well, the last one.
///
/// Stages follow each other in one piece of memory, or with `prefetch` in two, so that one can arrive while another is
/// used.
class StageGroups {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  StageGroups(const std::vector<Stage>& stages, const std::vector<NamedTensor>& parameters, const Arena& arena,
              World& world, StepTrace* trace, bool prefetch);

  /// Makes a stage usable. `next` is the one that will be asked for after it, or kNone.
  void use(std::size_t stage, std::size_t next);
  void release(std::size_t stage) { groups_[stage].release(); }
  void use_shared();
  void release_shared() { shared().release(); }

  /// Makes autograd add the gradients of a stage, or of what is shared, to their memory ...
  void collect_gradients(std::size_t stage);
  void collect_shared_gradients() { shared().collect_gradients(shared_gradient_place_); }
  /// ... until they are reduced, which starts to average them over the ranks. One group at a time is on its way.
  void reduce(std::size_t stage) { reduce(groups_[stage]); }
  void reduce_shared() { reduce(shared()); }
  /// Waits for that, and adds this rank's part to its gradients in the arena.
  void finish_reduction();

  /// Gathers all parameters at once, in memory besides that of the stages; release_all() releases it.
  void gather_all();
  void release_all();

  Holdings holdings() const;
  /// Returns a description for people: "largest group 4096, 2 in memory at a time; 128 shared by stages".
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
  ShardedGroup* reducing_ = nullptr;  ///< The group whose gradients are on their way.
};

}  // namespace trainyard::fsdp
