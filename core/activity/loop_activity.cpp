// SPDX-License-Identifier: Apache-2.0
#include "core/activity/loop_activity.h"

#include <algorithm>

#include "core/activity/own_threads.h"
#include "core/activity/sent_message.h"
#include "core/activity/wait_scope.h"

namespace trainyard::core {
namespace {

// The activity of the event loop that this thread runs. The variable is global because code that blocks deep inside a
// handler has no reference to the loop.
thread_local LoopActivity* activity_of_thread = nullptr;

void add_time(std::vector<Totals::Wait>& waiting, WaitCause cause, std::int64_t ns) {
  const auto known = std::ranges::find(waiting, cause, &Totals::Wait::cause);
  if (known == waiting.end()) {
    waiting.push_back({cause, ns});
  } else {
    known->ns += ns;
  }
}

}  // namespace

LoopActivity::ThreadScope::ThreadScope(LoopActivity& activity) : before_(activity_of_thread) {
  activity_of_thread = &activity;
}

LoopActivity::ThreadScope::~ThreadScope() { activity_of_thread = before_; }

// The loop's thread resets the accounts itself, when it next changes them. Until then they belong to an old epoch, and
// read() ignores them: it computes the totals from what the thread has been doing since the accounting began.
void LoopActivity::start() {
  accounting_ = true;
  begin_epoch();
}

void LoopActivity::stop() {
  accounting_ = false;
  turn_on_or_off();
}

void LoopActivity::start_recording() {
  spans_.start();
  if (!on()) begin_epoch();
}

void LoopActivity::stop_recording() {
  spans_.stop();
  turn_on_or_off();
}

void LoopActivity::begin_epoch() {
  epoch_.began_ns.store(now_ns(), std::memory_order_relaxed);
  epoch_.number.fetch_add(1, std::memory_order_release);
  turn_on_or_off();
}

void LoopActivity::turn_on_or_off() { on_.store(accounting_ || spans_.on(), std::memory_order_relaxed); }

void LoopActivity::arrive() {
  if (!on()) return;
  const Published::Change change(published_);
  const std::int64_t now = now_ns();
  enter_epoch(now);
  leave_implicit(now);
}

bool LoopActivity::begin(const Component& component, const Envelope* message, Frame& outer) {
  Account* account = find(component);
  if (account == nullptr) return false;
  const Published::Change change(published_);
  const std::int64_t now = now_ns();
  enter_epoch(now);
  leave_implicit(now);
  settle(now);
  outer = frame_;
  if (outer.account != nullptr) outer.account->last_end.set(now);
  if (outer.account != account) attribute(*account, now, message);
  if (message != nullptr) account->add_message();
  spans_.open_handler(component, message, now);
  run({account}, now);
  return true;
}

void LoopActivity::end(const Frame& outer) {
  const Published::Change change(published_);
  const std::int64_t now = now_ns();
  enter_epoch(now);
  settle(now);
  spans_.close_handler(running_component(), now);
  frame_.account->last_end.set(now);
  frame_.account->loop_ran = ran_;
  run(outer, now);
}

std::int64_t LoopActivity::set_wait(std::uint64_t cause, bool settles) {
  if (!on()) {
    inner_.set(cause);
    return 0;
  }
  const Published::Change change(published_);
  const std::int64_t now = now_ns();
  enter_epoch(now);
  if (settles) settle(now);
  inner_.set(cause);
  return now;
}

// A handler that began before the accounting has no frame until the loop's thread calls enter_epoch().
const Component* LoopActivity::running_component() const {
  return frame_.account != nullptr ? &frame_.account->component() : running_.load(std::memory_order_relaxed);
}

/// Makes a frame for the component that the thread runs now, if any. The BusyScope of this component is older than the
/// accounting and will not end the frame, so arrive() or the next BusyScope ends it (leave_implicit).
void LoopActivity::enter_epoch(std::int64_t now) {
  const std::uint64_t epoch = epoch_.number.load(std::memory_order_acquire);
  if (entered_.get() == epoch) return;
  entered_.set(epoch);
  const std::int64_t began = std::min(epoch_.began_ns.load(std::memory_order_relaxed), now);
  for (Account& account : accounts_) account.reset(began);
  ran_ = 0;
  const Component* running = running_.load(std::memory_order_relaxed);
  if (frame_.account == nullptr && running != nullptr) {
    Account* account = find(*running);
    frame_ = {account, account != nullptr};
  }
  run(frame_, began);
}

void LoopActivity::leave_implicit(std::int64_t now) {
  if (!frame_.implicit) return;
  settle(now);
  spans_.record({.begin_ns = epoch_.began_ns.load(std::memory_order_relaxed),
                 .end_ns = now,
                 .component = &frame_.account->component(),
                 .kind = SpanKind::kHandler});
  frame_.account->last_end.set(now);
  frame_.account->loop_ran = ran_;
  run({}, now);
}

void LoopActivity::settle(std::int64_t now) {
  const std::int64_t ns = now - since_.get();
  since_.set(now);
  if (frame_.account == nullptr || ns <= 0) return;
  ran_ += ns;
  if (const std::uint64_t cause = inner_.get()) {
    frame_.account->add_wait(WaitCause::unpacked(cause), ns);
  } else {
    frame_.account->add_busy(ns);
  }
}

void LoopActivity::attribute(Account& account, std::int64_t now, const Envelope* message) {
  const std::int64_t gap = now - account.last_end.get();
  if (gap <= 0) return;
  if (room_at_) {
    account.add_wait({WaitKind::kRoom, *room_at_}, gap);
    spans_.record_wait(&account.component(), {WaitKind::kRoom, *room_at_}, now - gap, now);
  } else if (message != nullptr && names_its_sender(*message)) {
    const std::int64_t others_ran = ran_ - account.loop_ran;
    const std::int64_t ready = std::min(std::clamp<std::int64_t>(age_of(*message), 0, gap), others_ran);
    if (ready > 0) account.add_wait({WaitKind::kThread}, ready);
    account.add_wait({WaitKind::kMessage, message->source}, gap - ready);
    spans_.record_wait(&account.component(), {WaitKind::kMessage, message->source}, now - gap, now - ready);
    spans_.record_wait(&account.component(), {WaitKind::kThread}, now - ready, now);
  }
}

void LoopActivity::run(const Frame& frame, std::int64_t now) {
  frame_ = frame;
  current_.set(frame.account);
  since_.set(now);
}

// The search is linear, because few components share a loop.
Account* LoopActivity::find(const Component& component) {
  for (Account& account : accounts_) {
    if (&account.component() == &component) return &account;
  }
  return nullptr;
}

LoopActivity::Reading LoopActivity::read() const {
  const std::lock_guard lock(threads_mutex_);
  Reading reading;
  published_.read([&] {
    reading = {.time_ns = now_ns(), .began_ns = epoch_.began_ns.load(std::memory_order_relaxed), .components = {}};
    for (const Account& account : accounts_) reading.components.push_back(totals_of(account, reading));
  });
  for (const OwnThreads* threads : threads_) {
    const auto owner = std::ranges::find(reading.components, &threads->component_, &Totals::component);
    if (owner != reading.components.end()) owner->busy_ns += threads->busy_ns(reading.time_ns);
  }
  return reading;
}

// As long as the thread has not entered the epoch, it is still doing what it did when the accounting began.
Totals LoopActivity::totals_of(const Account& account, const Reading& reading) const {
  const bool entered = entered_.get() == epoch_.number.load(std::memory_order_relaxed);
  Totals totals = entered ? account.totals() : Totals{.component = &account.component(), .waiting = {}};
  const bool runs =
      entered ? current_.get() == &account : running_.load(std::memory_order_relaxed) == &account.component();
  const std::int64_t since = !entered ? reading.began_ns : runs ? since_.get() : account.last_end.get();
  const std::int64_t ns = std::max<std::int64_t>(reading.time_ns - since, 0);
  const std::uint64_t cause = inner_.get();
  if (!runs) {
    totals.quiet_ns = ns;
  } else if (cause != 0) {
    add_time(totals.waiting, WaitCause::unpacked(cause), ns);
  } else {
    totals.busy_ns += ns;
  }
  return totals;
}

void LoopActivity::join(OwnThreads& threads) {
  const std::lock_guard lock(threads_mutex_);
  threads_.push_back(&threads);
}

// The time of threads that have ended remains part of the totals.
void LoopActivity::leave(OwnThreads& threads) {
  const std::lock_guard lock(threads_mutex_);
  std::erase(threads_, &threads);
  Account* account = find(threads.component_);
  if (!on() || account == nullptr) return;
  const Published::Change change(published_);
  const std::int64_t now = now_ns();
  enter_epoch(now);
  account->add_busy(threads.busy_ns(now));
}

WaitScope::WaitScope(WaitKind kind, std::uint32_t number) : activity_(activity_of_thread) {
  if (activity_ == nullptr) return;
  outer_ = activity_->inner_.get();
  begin_ns_ = activity_->set_wait(WaitCause{kind, number}.packed(), true);
}

// The whole wait is recorded for the cause that was set last, as in the accounts.
WaitScope::~WaitScope() {
  if (activity_ == nullptr) return;
  const WaitCause cause = WaitCause::unpacked(activity_->inner_.get());
  const std::int64_t end = activity_->set_wait(outer_, true);
  if (begin_ns_ != 0) activity_->spans_.record_wait(activity_->running_component(), cause, begin_ns_, end);
}

bool WaitScope::counts() const { return activity_ != nullptr && activity_->on(); }

void WaitScope::blame_rank(std::uint32_t rank) {
  if (counts()) activity_->set_wait(WaitCause{WaitKind::kRank, rank}.packed(), false);
}

SpanScope::SpanScope(SpanKind kind, const char* name, std::uint64_t step)
    : activity_(records_spans() ? activity_of_thread : nullptr), kind_(kind), name_(name), step_(step) {
  if (activity_ != nullptr) begin_ns_ = span_clock_ns();
}

SpanScope::~SpanScope() {
  if (activity_ == nullptr) return;
  activity_->spans_.record({.begin_ns = begin_ns_,
                            .end_ns = span_clock_ns(),
                            .step = step_,
                            .name = name_,
                            .component = activity_->running_component(),
                            .kind = kind_});
}

bool records_spans() { return activity_of_thread != nullptr && activity_of_thread->spans_.on(); }

bool records_operations() { return activity_of_thread != nullptr && activity_of_thread->spans_.operations(); }

void add_span(const EndedSpan& span) {
  if (!records_spans()) return;
  activity_of_thread->spans_.record({.begin_ns = span.begin_ns,
                                     .end_ns = span.end_ns,
                                     .step = span.step,
                                     .name = span.name,
                                     .component = activity_of_thread->running_component(),
                                     .own_thread = span.own_thread,
                                     .kind = span.kind});
}

std::int64_t span_clock_ns() { return LoopActivity::now_ns(); }

}  // namespace trainyard::core
