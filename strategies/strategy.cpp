// SPDX-License-Identifier: Apache-2.0
#include "strategies/strategy.h"

#include <cmath>
#include <exception>
#include <utility>

#include "core/traits/plugin_traits.h"
#include "messages/error.h"
#include "strategies/one_process.h"
#include "tensors/norm.h"

namespace trainyard {

Strategy::Strategy(StrategyContext& context) : Configurable(context.where, context.parameters), context_(context) {}

void Strategy::check_world_size(std::uint32_t world_size) const {
  const StrategyTraits served = traits();
  if (served.serves(world_size)) return;
  const std::string most = served.max_ranks == 0 ? "or more" : fmt::format("to {}", served.max_ranks);
  const std::string number = served.max_ranks == served.min_ranks
                                 ? fmt::format("{} rank{}", served.min_ranks, served.min_ranks == 1 ? "" : "s")
                                 : fmt::format("{} {} ranks", served.min_ranks, most);
  throw Error(Code::kUnsupported, "{}: it serves {}, the run has {}{}", where(), number, world_size,
              served.max_ranks == 1 ? "; use strategy = 'ddp' for several" : "");
}

void Strategy::set_up(const RankParts& parts) {
  parts_ = parts;
  // This check comes first, because the following code may use memory that only threads of one process share.
  if (traits().share == RanksShare::kProcess) check_one_process(world(), where());
  // If the ranks keep only shards, the shards can differ in size, so the collective cannot work on them in place.
  if (!arena().shard().parameters) world().use(arena().parameter_memory());
  if (!arena().shard().gradients) world().use(arena().gradient_memory());
  prepare();
}

template <class Part>
auto Strategy::together(const Part& part) {
  try {
    return part();
  } catch (const std::exception& error) {
    world().abort(error.what());
    throw;
  }
}

void Strategy::start() {
  together([this] {
    ArenaEdit edit(arena());
    edit.fetch_all();
    synchronise(edit);
  });
}

at::Tensor Strategy::train(const MicroBatch& batch) {
  end_evaluation();  // The caller may have cancelled an evaluation.
  step_samples_ += batch.samples;
  loss_scale_ = batch.loss_scale;
  gradients_are_due_ = batch.last;
  return together([&] { return compute(batch); });
}

StepSummary Strategy::end_step(const StepEnd& wanted) {
  return together([&] { return summary_of_step(wanted); });
}

StepSummary Strategy::summary_of_step(const StepEnd& wanted) {
  complete_gradients();
  gradients_are_due_ = false;
  step_has_ended_ = true;
  at::Tensor gradients = arena().own_gradients();
  StepSummary summary;
  if (wanted.check_finite) {
    summary.norm = norm_of_all(gradients);
    summary.finite = finite_everywhere(summary.norm);
    if (!summary.finite) return summary;
  }
  if (wanted.clip_value > 0) gradients.clamp_(-wanted.clip_value, wanted.clip_value);
  if (wanted.norm && (wanted.clip_value > 0 || !wanted.check_finite)) summary.norm = norm_of_all(gradients);
  return summary;
}

double Strategy::norm_of_all(const at::Tensor& own_gradients) const {
  const double own = l2_norm(own_gradients);
  if (traits().gradients != GradientsOfRanks::kParts) return own;
  // Every rank calls sum(), even a rank that has all gradients, because the others wait for it.
  const double all = world().sum(own * own);
  return all == own * own ? own : std::sqrt(all);
}

/// Checks all gradients by their norm, which is not finite if any gradient is infinite or NaN (or beyond 1e19, which is
/// useless at any loss scale).
bool Strategy::finite_everywhere(double norm) const {
  const bool overflow = !std::isfinite(norm);
  return traits().gradients == GradientsOfRanks::kOwn ? !world().any(overflow) : !overflow;
}

/// The reductions of a dropped step must be completed on all ranks. A rank without samples starts them only in
/// complete_gradients(); without this call, other ranks would mistake its later reductions for those of this step.
void Strategy::drop_step() {
  together([this] {
    if (gradients_are_due_) complete_gradients();
    ArenaEdit edit(arena());
    drop_gradients(edit);
    zero_gradients();
  });
  begin_step();
}

void Strategy::end_update(std::uint64_t step) {
  together([&] {
    ArenaEdit edit(arena());
    edit.fetch_parameters();
    after_update(step, edit);
  });
  begin_step();
}

void Strategy::begin_step() {
  step_samples_ = 0;
  gradients_are_due_ = false;
  step_has_ended_ = false;
}

Evaluation& Strategy::begin_evaluation() {
  end_evaluation();  // The caller may have cancelled an evaluation.
  ArenaEdit edit(arena());
  evaluation_ = make_evaluation(edit);
  return *evaluation_;
}

void Strategy::end_evaluation() {
  if (!evaluation_) return;
  ArenaEdit edit(arena());
  std::exchange(evaluation_, nullptr)->end(edit);
}

void Strategy::begin_snapshot() {
  end_evaluation();  // The caller may have cancelled an evaluation.
  ArenaEdit edit(arena());
  before_snapshot(edit);
  arena().publish_for_snapshot();
}

void Strategy::take_from_rank_0(ArenaEdit& edit) {
  if (world().is_alone()) return;
  world().broadcast(edit.parameters(), 0).wait();
  if (arena().has_buffers()) world().broadcast(arena().buffers(), 0).wait();
}

at::Tensor Strategy::compute(const MicroBatch& batch) {
  if (batch.empty()) return {};
  return passes().forward_and_backward(model(), batch);
}

std::unique_ptr<Evaluation> Strategy::make_evaluation(ArenaEdit& /*edit*/) { return std::make_unique<Evaluation>(); }

core::PluginTraits Strategy::declared_traits() const { return {traits()}; }

}  // namespace trainyard
