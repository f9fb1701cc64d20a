// SPDX-License-Identifier: Apache-2.0
#include "strategies/fsdp/stage_groups.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trainyard::fsdp {

StageGroups::StageGroups(const std::vector<Stage>& stages, const std::vector<NamedTensor>& parameters,
                         const Arena& arena, World& world, StepTrace* trace, bool prefetch)
    : arena_(arena), trace_(trace), prefetch_(prefetch) {
  const std::vector<std::uint64_t> bounds = shard_bounds(arena.layout().parameter_bytes, world.size());
  for (ParameterGroup& group : group_parameters(stages, arena.layout())) {
    groups_.emplace_back(std::move(group), arena, parameters, bounds, world);
  }
  const at::TensorOptions options = arena.parameters().options();
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) largest = std::max(largest, groups_[i].elements());
  const std::size_t places = stages.empty() ? 0 : (prefetch ? 2 : 1);
  for (std::size_t i = 0; i < places; ++i) places_.push_back(world.scratch(largest, options));
  shared_place_ = world.scratch(shared().elements(), options);
  gradient_place_ = world.scratch(largest, options);
  shared_gradient_place_ = world.scratch(shared().elements(), options);
}

void StageGroups::request(std::size_t stage) {
  if (stage + 1 < groups_.size()) groups_[stage].gather(places_[stage % places_.size()]);
}

void StageGroups::use(std::size_t stage, std::size_t next) {
  if (!groups_[stage].is_gathered()) {
    const TraceSpan span(trace_, "wait for parameters", SpanKind::kCollective);
    if (!groups_[stage].is_coming()) request(stage);
    groups_[stage].wait();
  }
  if (prefetch_ && next != kNone) request(next);
}

void StageGroups::use_shared() {
  shared().gather(shared_place_);
  shared().wait();
}

/// The previous reduction is finished first, because it uses the same memory.
void StageGroups::collect_gradients(std::size_t stage) {
  finish_reduction();
  groups_[stage].collect_gradients(gradient_place_);
}

void StageGroups::reduce(ShardedGroup& group) {
  finish_reduction();
  group.reduce();
  reducing_ = &group;
}

void StageGroups::finish_reduction() {
  if (reducing_ == nullptr) return;
  const TraceSpan span(trace_, "wait for reductions", SpanKind::kCollective);
  std::exchange(reducing_, nullptr)->add_reduced();
}

void StageGroups::gather_all() {
  for (ShardedGroup& group : groups_) {
    if (group.is_gathered()) continue;
    group.gather(at::empty({group.elements()}, arena_.parameters().options()));
    group.wait();
  }
}

void StageGroups::release_all() {
  for (ShardedGroup& group : groups_) group.release();
}

Holdings StageGroups::holdings() const {
  const std::uint64_t own = arena_.shard().end - arena_.shard().begin;
  Holdings result{.parameters = own,
                  .gradients = own,
                  .peak_parameters = own + shared_place_.nbytes(),
                  .peak_gradients = own + gradient_place_.nbytes() + shared_gradient_place_.nbytes(),
                  .whole_parameters = arena_.layout().parameter_bytes};
  for (const at::Tensor& place : places_) result.peak_parameters += place.nbytes();
  return result;
}

std::string StageGroups::text() const {
  return fmt::format("largest group {}, {} in memory at a time; {} shared by stages",
                     places_.empty() ? 0 : places_[0].nbytes(), places_.size(), groups_.back().bytes());
}

}  // namespace trainyard::fsdp
