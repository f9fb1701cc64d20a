// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "strategies/fsdp/sharded_group.h"
#include "strategies/shards.h"
#include "strategies/step_trace.h"
#include "strategies/world.h"

namespace trainyard::fsdp {

/// The parameters of all stages of a model, of which this rank keeps a part. use() gathers the parameters of a stage
/// before the stage is computed, and reduce() averages its gradients over the ranks so that every rank gets its part.
/// The parameters that several stages share form a group of their own.
///
/// All stages are gathered in the same memory, one after another. With `prefetch`, there are two such pieces of memory,
/// so that one stage can be gathered while another is computed.
class StageGroups {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  StageGroups(const std::vector<Stage>& stages, const std::vector<NamedTensor>& parameters, const Arena& arena,
              World& world, StepTrace* trace, bool prefetch);

  /// Gathers `stage` and waits until it can be used. All other stages must have been released. `next` is the stage that
  /// will be used after it, or kNone; with `prefetch`, the function also starts to gather `next`.
  void use(std::size_t stage, std::size_t next);
  void release(std::size_t stage) { groups_[stage].release(); }
  /// Gathers the shared parameters and waits until they can be used.
  void use_shared();
  void release_shared() { shared().release(); }

  /// Makes autograd collect the gradients of a stage until reduce() is called. First finishes the reduction in
  /// progress, which uses the same memory.
  void collect_gradients(std::size_t stage);
  /// Makes autograd collect the gradients of the shared parameters until reduce_shared() is called.
  void collect_shared_gradients() { shared().collect_gradients(shared_gradient_place_); }
  /// Starts to average the collected gradients of a stage over the ranks, after finishing the previous reduction.
  void reduce(std::size_t stage) { reduce(groups_[stage]); }
  /// Like reduce(), but for the gradients of the shared parameters.
  void reduce_shared() { reduce(shared()); }
  /// Waits for the reduction in progress, if there is one, and adds this rank's part of the result to the gradients
  /// that the rank keeps.
  void finish_reduction();

  /// Gathers all parameters of the model at the same time, in additional memory.
  void gather_all();
  /// Makes all parameters unusable again, and frees the memory that gather_all() has allocated.
  void release_all();

  Holdings holdings() const;
  /// Returns a text for the log, with sizes in bytes: "largest group 4096, 2 in memory at a time; 128 shared by
  /// stages".
  std::string text() const;

 private:
  ShardedGroup& shared() { return groups_.back(); }
  void request(std::size_t stage);
  void reduce(ShardedGroup& group);

  const Arena& arena_;
  StepTrace* trace_;
  bool prefetch_;
  std::vector<ShardedGroup> groups_;  ///< One for each stage, and a last one for the shared parameters.
  std::vector<at::Tensor> places_;    ///< The one or two pieces of memory in which stages are gathered.
  at::Tensor shared_place_;
  at::Tensor gradient_place_;
  at::Tensor shared_gradient_place_;
  ShardedGroup* reducing_ = nullptr;  ///< The group whose gradients are being reduced, or null.
};

}  // namespace trainyard::fsdp
