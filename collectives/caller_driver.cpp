// SPDX-License-Identifier: Apache-2.0
#include "collectives/caller_driver.h"

#include <optional>

#include "core/activity/wait_scope.h"

namespace trainyard::collectives {
namespace {

using namespace std::chrono_literals;

/// How often a waiting member checks whether the other members are still there.
constexpr std::chrono::microseconds kLook = 50ms;

}  // namespace

std::uint64_t CallerDriver::ask(Operation&& operation) {
  throw_if_failed();
  engine_->take(std::move(operation));
  return ++asked_;
}

void CallerDriver::wait(std::uint64_t number) {
  if (engine_->finished(number)) return;
  throw_if_failed();
  std::optional<core::WaitScope> waiting;  // Set only while this member can do nothing for the operation.
  for (std::uint32_t looks = 0;;) {
    const bool moved = engine_->advance(Effort::kEverything);
    if (engine_->finished(number)) break;
    looks = moved ? 0 : looks + 1;
    if (moved) waiting.reset();
    if (!moved && !waiting) waiting.emplace(core::WaitKind::kRanks);
    if (waiting && waiting->counts()) blame(*waiting, number);
    if (!moved && engine_->rest(looks, kLook)) look_sometimes(number);
    throw_if_failed();
  }
  engine_->stop_waiting();
}

// The member that is still missing at the end of the wait is the slowest, so the whole waiting time is attributed to
// it.
void CallerDriver::blame(core::WaitScope& waiting, std::uint64_t number) {
  if (const auto member = engine_->waits_for(number)) waiting.blame_rank(engine_->rank_of(*member));
}

bool CallerDriver::done(std::uint64_t number) {
  if (engine_->finished(number)) return true;
  engine_->advance(Effort::kOwnShare);
  look_sometimes(number);
  return engine_->failure().has_value() || engine_->finished(number);
}

void CallerDriver::progress() {
  throw_if_failed();
  if (engine_->idle()) return;
  engine_->look_for_news();
  engine_->advance(Effort::kOwnShare);
  throw_if_failed();
}

void CallerDriver::look_sometimes(std::uint64_t number) {
  engine_->look_for_news();
  const auto now = std::chrono::steady_clock::now();
  if (now - last_look_ <= kLook) return;
  last_look_ = now;
  engine_->look(number);
}

void CallerDriver::throw_if_failed() const {
  if (const auto& failure = engine_->failure()) throw Error(failure->code, "{}: {}", where_, failure->text);
}

}  // namespace trainyard::collectives
