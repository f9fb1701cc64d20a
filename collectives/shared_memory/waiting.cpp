#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <thread>

#include "collectives/shared_memory/engine.h"

// Waiting for other members: looking for a while, then sleeping, and now and then a look at whether those that are
// waited for are still there.

namespace trainyard::shared_memory {
namespace {

using namespace std::chrono_literals;

/// Between two looks at the others' processes.
constexpr auto kLook = 50ms;
/// A member that waits shows a sign of life with every look; the processor may be busy.
constexpr auto kHeartbeat = 5 * kLook;
/// Looks without asking for the time.
constexpr int kSpins = 32;
/// Times that a member gives way to others on its processor before it sleeps, where there are too few.
constexpr int kYields = 4;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

/// How long nothing has moved.
struct Engine::Rest {
  int looks = 0;
  bool spins = false;
  Clock::time_point since{};
};

void Engine::throw_if_broken() const {
  if (broken_) throw *broken_;
}

void Engine::fail(Code code, const std::string& text) {
  group_.publish_failure(code, text);
  broken_ = Error(code, fmt::format("{}: {}", settings_.where, text));
  throw *broken_;
}

/// What others found out is said in their words: whoever they name is to blame, not they.
void Engine::take_over_failure() {
  if (const auto failure = group_.failure()) fail(failure->code(), failure->what());
}

void Engine::progress() {
  throw_if_broken();
  if (operations_.empty()) return;
  take_over_failure();
  advance(false);
}

bool Engine::done(std::uint64_t number) {
  if (finished(number)) return true;
  throw_if_broken();
  advance(false);
  Operation* operation = find(number);
  if (operation == nullptr) return true;
  if (Clock::now() - last_look_ > kLook) look(*operation);
  return false;
}

void Engine::wait(std::uint64_t number) {
  if (finished(number)) return;
  throw_if_broken();
  Rest at_rest;
  for (;;) {
    const bool moved = advance(true);
    Operation* operation = find(number);
    if (operation == nullptr) break;
    if (moved) {
      at_rest = {};
    } else {
      rest(at_rest, number);
    }
  }
  if (group_.own().waits_for.load(std::memory_order_relaxed) != 0) group_.own().waits_for.store(0);
}

void Engine::rest(Rest& rest, std::uint64_t number) {
  if (rest.looks++ == 0) {
    group_.note_core();
    rest.spins = !group_.crowded();
  }
  if (!rest.spins && rest.looks <= kYields) {
    ::sched_yield();
    return;
  }
  if (rest.spins) {
    relax();
    if (rest.looks % kSpins != 0) return;
    const auto now = Clock::now();
    if (rest.since == Clock::time_point()) rest.since = now;
    if (now - rest.since < settings_.spin) return;
  }
  sleep();
  take_over_failure();
  Operation* operation = find(number);
  if (operation != nullptr && Clock::now() - last_look_ > kLook) look(*operation);
}

void Engine::sleep() {
  const auto head = std::ranges::find_if(
      operations_, [](const Operation& operation) { return operation.collective() && !operation.finished; });
  const std::uint32_t bell = group_.announce_sleep(head == operations_.end() ? Need{} : need_of(*head));
  if (!advance(true)) group_.sleep(bell, kLook);
  group_.awake();
}

/// What the first collective operation needs before it can go on.
Need Engine::need_of(const Operation& head) const {
  if (!head.begun) return obstacle(head) != nullptr ? Need{} : Need{kDone, head.sequence - kInFlight};
  if (head.way == Way::kInPlace) return {kFinished, head.sequence};
  if (head.way == Way::kStaging) return {kSteps, steps_needed(group_, head)};
  return {kArrived, head.sequence};
}

/// The operation that keeps this one from going on: the first of its queue, or what that one has to wait for.
const Operation& Engine::stuck(const Operation& operation) const {
  const auto head = std::ranges::find_if(
      operations_, [&](const Operation& other) { return !other.finished && queue_of(other) == queue_of(operation); });
  const Operation* before = head->begun ? nullptr : obstacle(*head);
  return before == nullptr ? *head : stuck(*before);
}

/// The members that it waits for.
std::vector<std::uint32_t> Engine::missing(const Operation& operation) const {
  if (!operation.collective()) return {operation.peer};
  const Need need = need_of(operation);
  std::vector<std::uint32_t> members;
  for (std::uint32_t member = 0; member < group_.size(); ++member) {
    if (member == group_.rank()) continue;
    const bool is = need.counter == kFinished
                        ? group_.of(member).working.load() == need.value
                        : need.counter != kNothing && group_.count(member, need.counter) < need.value;
    if (is) members.push_back(member);
  }
  return members;
}

/// A number that changes when one of them does something.
std::uint64_t Engine::signs_of_life(const Operation& operation, const std::vector<std::uint32_t>& members) const {
  std::uint64_t signs = group_.of(0).claims[operation.sequence % kInFlight].next.load(std::memory_order_relaxed);
  for (const std::uint32_t member : members) {
    for (const Counter counter : {kArrived, kDone, kSteps}) signs += group_.count(member, counter);
    if (operation.collective()) continue;
    const Channel& out = group_.channel(group_.rank(), member);
    const Channel& in = group_.channel(member, group_.rank());
    signs += out.read.load(std::memory_order_relaxed) + in.written.load(std::memory_order_relaxed);
  }
  return signs;
}

/// Throws if the operation cannot be expected to go on. What others have told is looked for once more after they are
/// found gone: who finds an error tells it, and may leave at once.
void Engine::look(Operation& operation) {
  last_look_ = Clock::now();
  group_.own().beats.fetch_add(1, std::memory_order_relaxed);
  take_over_failure();
  const Operation& held = stuck(operation);
  const auto members = missing(held);
  for (const std::uint32_t member : members) {
    const std::string why = group_.why_gone(member);
    if (why.empty()) continue;
    take_over_failure();
    // What it did before it left is there for sure only now.
    if (advance(false)) return;
    fail(Code::kPeerLost, fmt::format("{} is gone ({}) in {}", rank_name(member), why, name_of(held)));
  }
  group_.own().waits_for.store(members.empty() ? 0 : members.front() + 1, std::memory_order_relaxed);
  const std::uint64_t signs = signs_of_life(held, members);
  if (operation.asked == Clock::time_point() || signs != operation.signs || members.empty()) {
    operation.asked = last_look_;
    operation.signs = signs;
  } else if (last_look_ - operation.asked > settings_.timeout) {
    const std::uint32_t silent = culprit(members.front());
    take_over_failure();
    fail(Code::kTimeout, fmt::format("{} has been silent for {} s in {}", rank_name(silent),
                                     static_cast<double>(settings_.timeout.count()) / 1000, name_of(held)));
  }
}

/// The member on whom the wait for `silent` really depends: one that shows signs of life waits for another itself. If
/// they wait for each other in a circle, it is `silent` after all.
std::uint32_t Engine::culprit(std::uint32_t silent) const {
  std::vector<std::uint32_t> seen{group_.rank()};
  for (std::uint32_t member = silent;;) {
    if (std::ranges::find(seen, member) != seen.end()) return silent;
    seen.push_back(member);
    const Control& control = group_.of(member);
    const std::uint32_t next = control.waits_for.load(std::memory_order_relaxed);
    const std::uint32_t beats = control.beats.load(std::memory_order_relaxed);
    const auto until = Clock::now() + kHeartbeat;
    while (next != 0 && control.beats.load(std::memory_order_relaxed) == beats && Clock::now() < until) {
      std::this_thread::sleep_for(kLook / 10);
    }
    if (control.beats.load(std::memory_order_relaxed) == beats) return member;
    member = next - 1;
  }
}

std::string Engine::rank_name(std::uint32_t member) const { return fmt::format("rank {}", settings_.ranks[member]); }

std::string Engine::name_of(const Operation& operation) const {
  const std::uint32_t other = operation.collective() ? operation.request.root : operation.peer;
  return fmt::format("{} {} ({})", operation.collective() ? "operation" : "message", operation.sequence,
                     words_of(operation.request, settings_.ranks[other]));
}

}  // namespace trainyard::shared_memory
