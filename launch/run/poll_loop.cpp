// SPDX-License-Identifier: Apache-2.0
#include "launch/run/poll_loop.h"

#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "messages/error.h"

namespace trainyard::launch {
namespace {

/// The longest time that the loop sleeps. If it wakes up much later, the process was stopped meanwhile.
constexpr std::chrono::milliseconds kLongestSleep{1'000};
/// If the loop wakes up later than this, it assumes that the process was stopped. A busy machine causes shorter delays.
constexpr std::chrono::milliseconds kLate{2'000};

}  // namespace

// Watches and timers share one sequence of ids, so that cancel() needs only the id. They are in maps, because iterators
// to other entries stay valid when a callback removes an entry.
PollLoop::Id PollLoop::watch_file(int file, Callback callback) {
  watches_[next_id_] = {file, nullptr, std::move(callback)};
  return next_id_++;
}

PollLoop::Id PollLoop::watch_socket(void* socket, Callback callback) {
  watches_[next_id_] = {-1, socket, std::move(callback)};
  return next_id_++;
}

PollLoop::Id PollLoop::after(std::chrono::milliseconds delay, Callback callback) {
  timers_[next_id_] = {now() + delay, std::move(callback)};
  return next_id_++;
}

void PollLoop::cancel(Id id) {
  watches_.erase(id);
  timers_.erase(id);
}

void PollLoop::run() {
  while (!quit_) run_once(kLongestSleep);
  quit_ = false;
}

void PollLoop::run_once(std::chrono::milliseconds longest) {
  serve_watches(wait(longest));
  serve_timers();
}

std::vector<PollLoop::Id> PollLoop::wait(std::chrono::milliseconds longest) {
  // The list is made again in each round, because callbacks change the watches. This is fast enough, because training
  // steps cause no rounds.
  std::vector<zmq_pollitem_t> items;
  std::vector<Id> ids;
  for (const auto& [id, watch] : watches_) {
    items.push_back({watch.socket, watch.file, ZMQ_POLLIN, 0});
    ids.push_back(id);
  }
  const std::chrono::milliseconds sleep = until_next_timer(longest);
  const auto before = Clock::now();
  // No callback takes several seconds, so the process must have been stopped during a callback.
  if (awake_ && before - *awake_ > kLate) stopped_ += before - *awake_;
  if (zmq_poll(items.data(), static_cast<int>(items.size()), static_cast<long>(sleep.count())) < 0 && errno != EINTR) {
    throw Error(Code::kIo, "launcher: cannot wait for events: {}", zmq_strerror(errno));
  }
  awake_ = Clock::now();
  const Clock::duration overslept = *awake_ - before - sleep;
  if (overslept > kLate) stopped_ += overslept;
  std::vector<Id> ready;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].revents != 0) ready.push_back(ids[i]);
  }
  return ready;
}

void PollLoop::serve_watches(const std::vector<Id>& ready) {
  for (const Id id : ready) {
    const auto watch = watches_.find(id);
    if (watch == watches_.end()) continue;             // An earlier callback has cancelled this watch.
    const Callback callback = watch->second.callback;  // The callback is copied, because it may cancel its own watch.
    callback();
  }
}

void PollLoop::serve_timers() {
  const auto time = now();
  // Serves the timers that are due now, in the order of their times. A timer that a callback adds waits for the next
  // round.
  std::vector<Id> due;
  for (const auto& [id, timer] : timers_) {
    if (timer.when <= time) due.push_back(id);
  }
  std::ranges::stable_sort(due, {}, [this](Id id) { return timers_.at(id).when; });
  for (const Id id : due) {
    auto timer = timers_.extract(id);
    // An earlier callback may have cancelled this timer.
    if (timer) timer.mapped().callback();
  }
}

std::chrono::milliseconds PollLoop::until_next_timer(std::chrono::milliseconds longest) const {
  const auto time = now();
  for (const auto& [id, timer] : timers_) {
    // The time is rounded up, so that the loop does not wake up slightly too early.
    longest = std::min(longest, std::chrono::ceil<std::chrono::milliseconds>(timer.when - time));
  }
  return std::max(longest, std::chrono::milliseconds(0));
}

}  // namespace trainyard::launch
