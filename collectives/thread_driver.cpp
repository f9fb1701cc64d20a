// SPDX-License-Identifier: Apache-2.0
#include "collectives/thread_driver.h"

#include <fmt/format.h>

#include "core/activity/wait_scope.h"
#include "core/loop/quiet_thread.h"

namespace trainyard::collectives {
namespace {

using namespace std::chrono_literals;

/// The longest sleep of the thread, while there are unfinished operations and while there are none.
constexpr std::chrono::microseconds kBusySleep = 50ms;
constexpr std::chrono::microseconds kIdleSleep = 2000ms;
/// The longest sleep if the backend must be polled, because nothing wakes the thread.
constexpr std::chrono::microseconds kPollingSleep = 20us;

}  // namespace

ThreadDriver::ThreadDriver(std::string where, std::unique_ptr<Engine> engine)
    : Driver(std::move(where), std::move(engine)), agreement_(*engine_->backend().agreement) {
  // Signals would interrupt system calls of libraries.
  thread_ = core::quiet_thread("collective", [this] { run(); });
}

ThreadDriver::~ThreadDriver() {
  {
    // While the mutex is held, the thread cannot stop and destroy the agreement, so wake() is safe.
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
    agreement_.wake();
  }
  thread_.join();
}

std::uint64_t ThreadDriver::ask(Operation&& operation) {
  std::uint64_t number;
  {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
    number = ++last_number_;  // The engine will assign the same number.
    unfinished_.insert(number);
    asked_.push_back(std::move(operation));
  }
  agreement_.wake();
  return number;
}

void ThreadDriver::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  if (!unfinished_.contains(number)) return;
  // This counts as waiting even if the engine's thread is working on the operation.
  core::WaitScope waiting(core::WaitKind::kRanks);
  waited_ = number;
  watched_ = waiting.counts();
  changed_.wait(lock, [&] { return failure_.has_value() || !unfinished_.contains(number); });
  if (const auto slowest = std::exchange(slowest_, {})) waiting.blame_rank(*slowest);
  waited_.reset();
  if (unfinished_.contains(number)) throw_if_failed();
}

bool ThreadDriver::done(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return failure_.has_value() || !unfinished_.contains(number);
}

void ThreadDriver::progress() {
  const std::lock_guard lock(mutex_);
  throw_if_failed();
}

// Returns only when the engine has told the other members, because a caller that reports a failure may destroy the
// collective immediately afterwards.
void ThreadDriver::fail(const Failure& failure) {
  std::unique_lock lock(mutex_);
  if (!failure_ && !reported_) reported_ = failure;
  agreement_.wake();
  changed_.wait(lock, [&] { return failure_.has_value(); });
}

void ThreadDriver::run() {
  try {
    while (go_on()) {
    }
  } catch (const std::exception& error) {
    engine_->fail({Code::kIo, fmt::format("the thread of the group cannot go on: {}", error.what())});
    publish();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_; });
  }
  engine_.reset();  // This leaves the group.
}

// Takes new operations, makes progress and sleeps once. Returns false if the thread must stop.
bool ThreadDriver::go_on() {
  std::vector<Operation> asked;
  std::optional<Failure> reported;
  std::optional<std::uint64_t> waited;
  bool watched = false;
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return false;
    asked.swap(asked_);
    reported.swap(reported_);
    waited = waited_;
    watched = watched_;
  }
  for (Operation& operation : asked) engine_->take(std::move(operation));
  if (reported) engine_->fail(*reported);
  engine_->backend().agreement->receive();
  while (engine_->advance(Effort::kEverything)) {
  }
  if (!waited) engine_->stop_waiting();
  if (waited && watched) note_slowest(*waited);
  engine_->look(waited);
  publish();
  const bool busy = !engine_->idle() && !engine_->failure();
  engine_->rest(1, !busy ? kIdleSleep : engine_->must_be_polled() ? kPollingSleep : kBusySleep);
  return true;
}

void ThreadDriver::note_slowest(std::uint64_t waited) {
  const auto member = engine_->waits_for(waited);
  if (!member) return;
  const std::lock_guard lock(mutex_);
  slowest_ = engine_->rank_of(*member);
}

void ThreadDriver::publish() {
  const std::lock_guard lock(mutex_);
  const std::size_t before = unfinished_.size();
  // Operations that the engine has not taken yet are not finished, although the engine does not know their numbers.
  std::erase_if(unfinished_, [&](std::uint64_t number) {
    return number <= last_number_ - asked_.size() && engine_->finished(number);
  });
  const bool fails = engine_->failure().has_value() && !failure_;
  if (fails) failure_ = engine_->failure();
  if (fails || unfinished_.size() != before) changed_.notify_all();
}

void ThreadDriver::throw_if_failed() const {
  if (failure_) throw Error(failure_->code, "{}: {}", where_, failure_->text);
}

}  // namespace trainyard::collectives
