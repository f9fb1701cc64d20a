// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/agreement.h"

#include <sched.h>

#include "collectives/operation_queue.h"
#include "collectives/shared_memory/transfers.h"

namespace trainyard::shared_memory {
namespace {

using collectives::Answer;
using collectives::Pause;
using collectives::QueuedOperation;
using collectives::Stage;

/// A polling member reads the clock only once in so many checks.
constexpr std::uint32_t kSpins = 32;
/// How often a member yields the processor before it sleeps, if members share processor cores.
constexpr std::uint32_t kYields = 4;

/// The values of Control::waits_for.
constexpr std::uint32_t kWaitsForNobody = 0;
constexpr std::uint32_t kCannotTell = 1;
constexpr std::uint32_t kFirstMember = 2;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Returns the condition that must be met before the first unfinished collective operation can continue.
Need need_of(const QueuedOperation* first) {
  if (first == nullptr) return {};
  const std::uint64_t order = first->operation.order;
  if (first->stage == Stage::kQueued) return order > kInFlight ? Need{kDone, order - kInFlight} : Need{};
  if (first->transfer != nullptr) return static_cast<const SharedTransfer&>(*first->transfer).need();
  return {kArrived, order};
}

}  // namespace

// The descriptor and the slot are reused. They are free when all members have finished the operation that last used
// them.
bool SharedAgreement::announce(const Operation& operation) {
  const std::uint64_t order = operation.order;
  if (order > all_done_ + kInFlight) {
    if (!group_->everyone_reached(kDone, order - kInFlight)) return false;
    all_done_ = order - kInFlight;
  }
  group_->note_core();
  Descriptor& descriptor = group_->own().descriptors[order % kInFlight];
  descriptor = {operation.request, blocks_.find(operation.data.data, operation.bytes())};
  if (fits_slot(*group_, descriptor)) put_into_slot(*group_, operation);
  group_->count_up(kArrived, order);
  return true;
}

const Request* SharedAgreement::request_of(std::uint32_t member, const Operation& operation) const {
  if (group_->count(member, kArrived) < operation.order) return nullptr;
  return &group_->of(member).descriptors[operation.order % kInFlight].request;
}

bool SharedAgreement::rest(const Pause& pause, const std::function<bool()>& look_again) {
  if (looks_on(pause.looks)) return false;
  const std::uint32_t bell = group_->announce_sleep(need_of(pause.queue.first_of_group()));
  if (!look_again()) group_->sleep(bell, pause.most);
  group_->awake();
  return true;
}

/// Returns true as long as the member should check again instead of sleeping. Polls or yields the processor meanwhile.
bool SharedAgreement::looks_on(std::uint32_t looks) {
  if (looks == 1) {
    group_->note_core();
    spins_ = !group_->crowded();
    spins_since_.reset();
  }
  if (!spins_) {
    if (looks > kYields) return false;
    ::sched_yield();
    return true;
  }
  relax();
  if (looks % kSpins != 0) return true;
  const auto now = Clock::now();
  if (!spins_since_) spins_since_ = now;
  return now - *spins_since_ < spin_;
}

std::uint64_t SharedAttendance::signs(std::uint32_t member) const {
  std::uint64_t signs = 0;
  for (const Counter counter : {kArrived, kDone, kSteps}) signs += group_.count(member, counter);
  if (member == group_.rank()) return signs;
  return signs + group_.channel(group_.rank(), member).read.load(std::memory_order_relaxed) +
         group_.channel(member, group_.rank()).written.load(std::memory_order_relaxed);
}

void SharedAttendance::show(const Answer& answer) {
  const std::uint32_t waits_for = !answer.waits      ? kWaitsForNobody
                                  : answer.waits_for ? kFirstMember + *answer.waits_for
                                                     : kCannotTell;
  group_.own().waits_for.store(waits_for, std::memory_order_relaxed);
  if (answer.waits) group_.own().beats.fetch_add(1, std::memory_order_relaxed);
}

void SharedAttendance::probe() {
  for (std::uint32_t member = 0; member < group_.size(); ++member) {
    beats_[member] = group_.of(member).beats.load(std::memory_order_relaxed);
  }
}

std::optional<Answer> SharedAttendance::answer(std::uint32_t member) const {
  const Control& control = group_.of(member);
  if (control.beats.load(std::memory_order_relaxed) == beats_[member]) return {};
  const std::uint32_t waits_for = control.waits_for.load(std::memory_order_relaxed);
  Answer answer{.waits = waits_for != kWaitsForNobody, .waits_for = {}};
  if (waits_for >= kFirstMember) answer.waits_for = waits_for - kFirstMember;
  return answer;
}

}  // namespace trainyard::shared_memory
