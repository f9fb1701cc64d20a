// SPDX-License-Identifier: Apache-2.0
#include "core/loop/event_loop.h"

#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/component/component.h"
#include "messages/error.h"

namespace trainyard::core {

// The head and the tail of the queue are counters that only grow; slot() reduces them to an index. The queue is full
// when their difference is the number of slots.
void EventLoop::Queue::push(Delivery delivery) {
  if (tail_ - head_ == slots_.size()) {
    std::vector<Delivery> larger(slots_.size() * 2);
    for (std::size_t i = head_; i != tail_; ++i) larger[i - head_] = std::move(slot(i));
    tail_ -= head_;
    head_ = 0;
    slots_ = std::move(larger);
  }
  slot(tail_++) = std::move(delivery);
}

Delivery EventLoop::Queue::pop() { return std::exchange(slot(head_++), {}); }

EventLoop::EventLoop(std::string name) : name_(std::move(name)) {}

EventLoop::~EventLoop() = default;

// The task and the flag are stored before the wake-up, as the protocol of Wakeup requires.
void EventLoop::post(std::function<void()> task) {
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(task));
    any_posted_.store(true, std::memory_order_release);
  }
  wakeup_.notify();
}

// The loop need not be woken, because its own thread makes this call.
EventLoop::TimerId EventLoop::after(std::chrono::milliseconds delay, std::function<void()> task) {
  const TimerId id = next_timer_++;
  timers_.emplace(Clock::now() + delay, std::pair(id, std::move(task)));
  return id;
}

// The search is linear, because timers are few: heartbeats, sweeps, deadlines.
void EventLoop::cancel(TimerId timer) {
  std::erase_if(timers_, [timer](const auto& entry) { return entry.second.first == timer; });
}

void EventLoop::enqueue(Delivery delivery) { queue_.push(std::move(delivery)); }

void EventLoop::add(Source& source) { sources_.push_back(&source); }

void EventLoop::remove(Source& source) { std::erase(sources_, &source); }

void EventLoop::run() {
  const LoopActivity::ThreadScope thread(activity_);
  while (!stopping_.load(std::memory_order_acquire)) {
    if (!run_once()) wait(std::chrono::milliseconds(1000));
  }
}

// A round of the loop handles messages in the loop's own queue, polls the sources, and runs posted tasks and timers
// that are due. The work of each of these steps is bounded, so none of them can starve the others. The loop's own queue
// comes first, because it costs least to check.
bool EventLoop::run_once() {
  bool worked = run_queue();
  // The loop uses an index, because a handler may add a source. A removed source is noticed in the next round.
  for (std::size_t i = 0; i < sources_.size(); ++i) worked |= sources_[i]->poll();
  if (any_posted_.load(std::memory_order_acquire)) worked |= run_posted();
  if (!timers_.empty()) worked |= run_timers();
  return worked;
}

bool EventLoop::run_queue() {
  // After kRound messages or after kTime, other work gets its turn, so that two busy components cannot starve the rest.
  // Both bounds are needed: 64 messages may be twenty training steps, which may take a minute. Reading the clock takes
  // a quarter of the time that a message takes, so it is read only while more than one message waits.
  constexpr int kRound = 64;
  constexpr auto kTime = std::chrono::milliseconds(1);
  std::optional<Clock::time_point> end;
  if (queue_.size() > 1) end = Clock::now() + kTime;
  int handled = 0;
  while (handled < kRound && !queue_.empty()) {
    Delivery delivery = queue_.pop();
    Component& owner = delivery.input->owner();
    owner.deliver(std::move(delivery));
    ++handled;
    if (queue_.empty() || any_posted_.load(std::memory_order_acquire)) break;
    const Clock::time_point now = Clock::now();
    if (!end) end = now + kTime;
    if (now > *end) break;
  }
  return handled != 0;
}

// The list of tasks is swapped out under the lock and run without it, so that a task may call post().
bool EventLoop::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(posted_mutex_);
    tasks.swap(posted_);
    any_posted_.store(false, std::memory_order_release);
  }
  for (auto& task : tasks) {
    trace_ = 0;  // A task belongs to no message.
    task();
  }
  return !tasks.empty();
}

bool EventLoop::run_timers() {
  bool worked = false;
  const Clock::time_point now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    // A timer is removed before it runs, because its task may set or cancel timers.
    auto node = timers_.extract(timers_.begin());
    trace_ = 0;
    node.mapped().second();
    worked = true;
  }
  return worked;
}

// wait() calls this function between Wakeup::prepare() and sleeping. Work that arrived before prepare() is found here,
// and work that arrives later wakes the loop.
bool EventLoop::has_work() const {
  if (stopping_.load(std::memory_order_acquire) || !queue_.empty()) return true;
  if (any_posted_.load(std::memory_order_acquire)) return true;
  return std::ranges::any_of(sources_, [](const Source* source) { return source->has_work(); });
}

int EventLoop::sleep_ms(std::chrono::milliseconds limit) const {
  if (timers_.empty()) return static_cast<int>(limit.count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), limit).count());
}

void EventLoop::wait(std::chrono::milliseconds limit) {
  wakeup_.prepare();
  if (!has_work()) {
    activity_.sleep();
    // The list is normally on the stack, since a loop has only one or two sockets for each process with which it
    // communicates. A long list is on the heap.
    zmq_pollitem_t few[64];
    std::vector<zmq_pollitem_t> many(sources_.size() < std::size(few) ? 0 : sources_.size() + 1);
    zmq_pollitem_t* items = many.empty() ? few : many.data();
    int count = 0;
    items[count++] = {nullptr, wakeup_.fd(), ZMQ_POLLIN, 0};
    for (const Source* source : sources_) {
      if (source->socket() != nullptr) items[count++] = {source->socket(), 0, ZMQ_POLLIN, 0};
    }
    if (zmq_poll(items, count, sleep_ms(limit)) < 0 && zmq_errno() != EINTR) {
      throw Error(Code::kIo, "event loop '{}' cannot poll: {}", name_, zmq_strerror(zmq_errno()));
    }
  }
  wakeup_.done();
}

void EventLoop::stop() {
  stopping_.store(true, std::memory_order_release);
  wakeup_.notify();
}

}  // namespace trainyard::core
