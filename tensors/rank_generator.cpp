// SPDX-License-Identifier: Apache-2.0
#include "tensors/rank_generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>

#include <atomic>

namespace trainyard {
namespace {

/// The number of passes without a draw after which a model is assumed never to draw.
constexpr int kIdleTurns = 3;

std::atomic<int> ranks_here = 0;

std::mutex& generator_mutex() {
  static std::mutex mutex;
  return mutex;
}

at::Tensor present_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

}  // namespace

RankGenerator::RankGenerator() { ++ranks_here; }

RankGenerator::~RankGenerator() { --ranks_here; }

std::unique_lock<std::mutex> RankGenerator::hold() const { return std::unique_lock(generator_mutex()); }

void RankGenerator::adopt() { state_ = present_state(); }

void RankGenerator::install() const {
  if (ranks_here <= 1 || !state_.defined()) return;
  at::Generator shared = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(shared.mutex());
  shared.set_state(state_);
}

bool RankGenerator::takes_turns() const { return ranks_here > 1 && state_.defined() && idle_turns_ < kIdleTurns; }

RankGenerator::Turn::Turn(RankGenerator& generator) {
  if (!generator.takes_turns()) return;
  generator_ = &generator;
  lock_ = generator.hold();
  generator.install();
}

RankGenerator::Turn::~Turn() {
  if (generator_ == nullptr) return;
  at::Tensor now = present_state();
  const bool drew = !now.equal(generator_->state_);
  generator_->state_ = std::move(now);
  // Once a model has drawn a random number, it takes turns until the end of the run.
  generator_->idle_turns_ = drew ? -1'000'000'000 : generator_->idle_turns_ + 1;
}

}  // namespace trainyard
