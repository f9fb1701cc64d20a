// SPDX-License-Identifier: Apache-2.0
#include "core/transport/byte_relay.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/loop/quiet_thread.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

/// How often a pair may pass on a full buffer before it is the turn of the others.
constexpr int kTurns = 8;
/// How long the destructor waits at most, and how long it waits for more bytes. libzmq may close a connection only
/// after the destructor.
constexpr std::chrono::milliseconds kLastWait{500};
constexpr std::chrono::milliseconds kLastBytes{100};
constexpr std::chrono::milliseconds kRelayLook{50};

bool must_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

ByteRelay::ByteRelay(std::size_t buffer, std::chrono::milliseconds patience)
    : patience_(patience),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      bytes_(buffer) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (!epoll_ || !wakeup_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event) != 0)
    throw Error(Code::kIo, "cannot pass on connections: {}", std::strerror(errno));
  thread_ = quiet_thread("relay", [this] { run(); });
}

ByteRelay::~ByteRelay() {
  stopping_ = true;
  ::eventfd_write(wakeup_.get(), 1);
  thread_.join();
}

void ByteRelay::add(FileDescriptor outer, FileDescriptor inner) {
  std::list<Pair> added(1);  // Allocated before the mutex is locked, so that this thread never delays the relay's.
  Pair& pair = added.front();
  pair.in = {.from = outer.get(), .to = inner.get()};
  pair.out = {.from = inner.get(), .to = outer.get()};
  pair.outer = std::move(outer);
  pair.inner = std::move(inner);
  ++count_;
  {
    const std::lock_guard lock(mutex_);
    new_.splice(new_.end(), added);
  }
  ::eventfd_write(wakeup_.get(), 1);
}

void ByteRelay::run() {
  Clock::time_point last = Clock::time_point::max();
  while (true) {
    const bool stopping = stopping_;
    const auto now = Clock::now();
    if (stopping && last == Clock::time_point::max()) {
      last = now + kLastWait;
      moved_ = now;
    }
    if (stopping && (count_ == 0 || now >= last || (now >= moved_ + kLastBytes && !has_rest()))) return;
    for (Pair* pair : wait()) {
      if (pair == nullptr)
        take_new();
      else
        handle(*pair);
    }
    give_up(now);
    remove_over();
  }
}

std::vector<ByteRelay::Pair*> ByteRelay::wait() {
  const bool look = stopping_ || !ending_.empty();
  const int most = !ready_.empty() ? 0 : look ? static_cast<int>(kRelayLook.count()) : -1;
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), most);
  std::vector<Pair*> pairs = std::exchange(ready_, {});
  for (Pair* pair : pairs) pair->ready = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    Pair* const pair = static_cast<Pair*>(event.data.ptr);
    if (pair != nullptr && (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) pair->ended = true;
    pairs.push_back(pair);
  }
  return pairs;
}

// The events are edge-triggered, so a pair is handled until neither side can go on.
void ByteRelay::take_new() {
  eventfd_t ignored = 0;
  ::eventfd_read(wakeup_.get(), &ignored);
  std::list<Pair> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(new_);
  }
  for (Pair& pair : arrived) {
    epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = &pair}};
    pair.over = ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pair.outer.get(), &event) != 0 ||
                ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pair.inner.get(), &event) != 0;
    if (pair.over) over_.push_back(&pair);
  }
  pairs_.splice(pairs_.end(), arrived);  // The addresses of the pairs stay the same.
}

void ByteRelay::handle(Pair& pair) {
  if (pair.over) return;
  pair.out.moved = pair.in.moved = false;
  const State out = pass(pair.out), in = pass(pair.in);
  if (out == State::kOver || in == State::kOver) {
    pair.over = true;
    over_.push_back(&pair);
    return;
  }
  if (!pair.ready && (out == State::kReady || in == State::kReady)) {
    pair.ready = true;
    ready_.push_back(&pair);
  }
  if (!pair.ended) return;
  const bool first = pair.last == Clock::time_point{};
  if (first) ending_.push_back(&pair);
  if (first || pair.out.moved || pair.in.moved) pair.last = Clock::now() + patience_;
}

// If `to` has ended, the opposite way notices it, after it has passed on the last bytes that `to` has sent.
ByteRelay::State ByteRelay::pass(Way& way) {
  for (int turn = 0; turn < kTurns; ++turn) {
    if (!send_rest(way)) return State::kWaiting;
    if (way.broken) return State::kWaiting;
    const ssize_t got = ::recv(way.from, bytes_.data(), bytes_.size(), MSG_DONTWAIT);
    if (got < 0 && must_wait()) return State::kWaiting;
    if (got <= 0) return State::kOver;
    if (stopping_) moved_ = Clock::now();
    const ssize_t sent = ::send(way.to, bytes_.data(), static_cast<std::size_t>(got), MSG_DONTWAIT | MSG_NOSIGNAL);
    way.broken = sent < 0 && !must_wait();
    const ssize_t done = sent < 0 ? 0 : sent;
    way.moved |= done > 0;
    if (!way.broken) way.rest.assign(bytes_.data() + done, static_cast<std::size_t>(got - done));
  }
  return State::kReady;
}

bool ByteRelay::send_rest(Way& way) {
  while (!way.rest.empty()) {
    const ssize_t sent = ::send(way.to, way.rest.data(), way.rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && must_wait()) return false;
    way.broken = sent < 0;
    way.moved |= sent > 0;
    way.rest.erase(0, way.broken ? way.rest.size() : static_cast<std::size_t>(sent));
  }
  way.rest.shrink_to_fit();
  return true;
}

bool ByteRelay::has_rest() const {
  return std::ranges::any_of(pairs_, [](const Pair& pair) { return !pair.out.rest.empty(); });
}

void ByteRelay::give_up(Clock::time_point now) {
  for (Pair* pair : ending_) {
    if (pair->over || now < pair->last) continue;
    pair->over = true;
    over_.push_back(pair);
  }
}

void ByteRelay::remove_over() {
  if (over_.empty()) return;
  for (const Pair* pair : over_) {
    // Closing the descriptors would not be enough: a child process has copies of them until it runs its program.
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pair->outer.get(), nullptr);
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pair->inner.get(), nullptr);
    std::erase(ending_, pair);
    std::erase(ready_, pair);
    pairs_.remove_if([&](const Pair& one) { return &one == pair; });
    --count_;
  }
  over_.clear();
}

}  // namespace trainyard::core
