// SPDX-License-Identifier: Apache-2.0
#include "core/transport/stranger_filter.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "core/loop/quiet_thread.h"
#include "core/transport/connection_limit.h"
#include "core/transport/tcp_listener.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

/// How many connections may arrive at the same moment.
constexpr int kMostPending = 4096;
/// How many keys may be examined at the same time or fail at once, and how many more may fail per second. Examining a
/// key takes the socket's thread about half a millisecond.
constexpr double kMostExamined = 64, kMostFailuresPerSecond = 20;
/// The most bytes of one side before its key is admitted, apart from the opening.
constexpr std::size_t kMostUnadmitted = 16 << 10;
/// How many connections are accepted before those that exist get their turn.
constexpr int kAcceptedAtOnce = 64;
constexpr std::chrono::milliseconds kStrangerLook{50};
/// How many descriptors of the process are left for other purposes. libzmq ends the process if it has no descriptor for
/// a connection to a Unix socket.
constexpr std::size_t kSpareDescriptors = 128;
/// An admitted connection takes one descriptor in the filter for each side, and one in libzmq.
constexpr std::size_t kDescriptorsEach = 3;

/// Throws if the system could not make the descriptor.
FileDescriptor checked(int descriptor) {
  if (descriptor < 0) throw Error(Code::kIo, "cannot wait for connections: {}", std::strerror(errno));
  return FileDescriptor(descriptor);
}

bool send_whole(const FileDescriptor& to, std::string_view bytes) {
  return ::send(to.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

/// What has arrived at a connection, at most `most` bytes, and whether the connection has ended.
struct Arrived {
  std::string bytes;
  bool ended = false;
};

Arrived receive(const FileDescriptor& from, std::size_t most) {
  std::array<char, 4096> bytes{};
  const ssize_t got = ::recv(from.get(), bytes.data(), std::min(most, bytes.size()), MSG_DONTWAIT);
  if (got > 0) return {{bytes.data(), static_cast<std::size_t>(got)}};
  return {.bytes = {}, .ended = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)};
}

}  // namespace

std::size_t StrangerFilter::most_strangers() {
  constexpr std::size_t kMost = 4096;
  return std::clamp<std::size_t>(raise_descriptor_limit() / 16, 1, kMost);  // As many others may wait.
}

std::size_t StrangerFilter::most_admitted() { return raise_descriptor_limit() / 8 * 5 / kDescriptorsEach; }

StrangerFilter::StrangerFilter(zmq::socket_t& socket, const std::string& address, const Limits& limits)
    : limits_(limits),
      opening_(socket.get(zmq::sockopt::curve_secretkey)),
      listener_(listen_at(address, kMostPending)),
      endpoint_(endpoint_of(listener_)),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC))),
      wakeup_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      inner_(socket, kMostPending),
      relay_(limits.buffer),
      strangers_(std::chrono::milliseconds(socket.get(zmq::sockopt::handshake_ivl))),
      examinations_(kMostExamined, kMostFailuresPerSecond),
      descriptors_(kDescriptorsEach) {
  for (FileDescriptor* each : {&listener_, &wakeup_}) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = each}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, each->get(), &event) != 0)
      throw Error(Code::kIo, "cannot listen at {}: {}", address, std::strerror(errno));
  }
  thread_ = quiet_thread("strangers", [this] { run(); });
}

StrangerFilter::~StrangerFilter() {
  stopping_ = true;
  ::eventfd_write(wakeup_.get(), 1);
  thread_.join();
}

void StrangerFilter::run() {
  lower_priority();  // Strangers get less processor time than those who have been admitted.
  std::array<epoll_event, 256> events{};
  while (!stopping_) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), milliseconds_to_wait());
    const auto now = Clock::now();
    for (int i = 0; i < count; ++i) {
      void* const what = events[static_cast<std::size_t>(i)].data.ptr;
      if (what == &listener_)
        accept();
      else if (what != &wakeup_)
        handle(*static_cast<Stranger*>(what));
    }
    examinations_.earn(now);
    close_late(now);
    examine_next();
    strangers_.forget_over();  // Only now, because several events may be those of one stranger.
  }
}

int StrangerFilter::milliseconds_to_wait() const {
  const std::optional<Clock::time_point> first = strangers_.first_deadline();
  if (!first) return -1;
  if (strangers_.waiting() > 0) return static_cast<int>(kStrangerLook.count());
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*first - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count() + 1, 0));
}

void StrangerFilter::accept() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    FileDescriptor outer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!outer && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      // Without a descriptor for it, the connection would wait and this thread would not.
      if (strangers_.opening() > 0)
        close(strangers_.oldest_opening());
      else
        std::this_thread::sleep_for(kStrangerLook);
    }
    if (!outer) return;
    if (strangers_.opening() >= limits_.strangers) close(strangers_.oldest_opening());
    prepare_connection(outer);
    Stranger& stranger = strangers_.add(std::move(outer), Clock::now());
    epoll_event event{.events = EPOLLIN | EPOLLRDHUP, .data = {.ptr = &stranger}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stranger.outer.get(), &event) != 0) close(stranger);
  }
}

void StrangerFilter::handle(Stranger& stranger) {
  switch (stranger.state) {
    case Stranger::State::kOpening:
      return hear(stranger);
    case Stranger::State::kExamined:
      return pass_between(stranger);
    case Stranger::State::kWaiting:
      return close(stranger);  // It must not send anything now, so it has ended.
    case Stranger::State::kOver:
      return;
  }
}

void StrangerFilter::hear(Stranger& stranger) {
  const Arrived arrived = receive(stranger.outer, CurveOpening::kBytes - stranger.heard.size());
  stranger.heard += arrived.bytes;
  if (arrived.ended || !CurveOpening::is_possible(stranger.heard)) return close(stranger);
  if (!stranger.greeted && stranger.heard.size() >= CurveOpening::kSignatureBytes) {
    stranger.greeted = true;
    if (!send_whole(stranger.outer, CurveOpening::server_greeting())) return close(stranger);
  }
  if (stranger.heard.size() < CurveOpening::kBytes) return;
  if (!opening_.knows_server(stranger.heard) || !recent_.is_new(CurveOpening::client_key(stranger.heard)) ||
      strangers_.waiting() >= limits_.strangers) {
    return close(stranger);
  }
  strangers_.enqueue(stranger, Clock::now());
}

void StrangerFilter::examine_next() {
  while (strangers_.waiting() > 0 && examinations_.may_begin() &&
         relay_.pairs() + examinations_.running() < limits_.admitted) {
    Stranger& next = strangers_.next();
    if (!has_descriptors()) {
      close(next);
      continue;
    }
    strangers_.begin_next();
    examine(next);
  }
}

// Further strangers must not take the last descriptors before libzmq has accepted the connection.
bool StrangerFilter::has_descriptors() {
  return descriptors_.take(kSpareDescriptors + 2 * limits_.strangers - strangers_.opening() - strangers_.waiting());
}

void StrangerFilter::examine(Stranger& stranger) {
  examinations_.begin();
  stranger.inner = inner_.connect();
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP, .data = {.ptr = &stranger}};
  if (!stranger.inner || !send_whole(stranger.inner, stranger.heard) ||
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stranger.inner.get(), &event) != 0) {
    close(stranger);
  }
}

// The socket's greeting is not passed on, because the other side has got one already.
void StrangerFilter::pass_between(Stranger& stranger) {
  const Arrived asked = receive(stranger.outer, kMostUnadmitted);
  stranger.heard += asked.bytes;
  if (!asked.bytes.empty() && !send_whole(stranger.inner, asked.bytes)) return close(stranger);
  const Arrived answered = receive(stranger.inner, kMostUnadmitted);
  const std::size_t before = std::max(stranger.told.size(), CurveOpening::kGreetingBytes);
  stranger.told += answered.bytes;
  const std::string_view told = stranger.told;
  if (told.size() > before && !send_whole(stranger.outer, told.substr(before))) return close(stranger);
  if (CurveOpening::is_admitted(told)) return admit(stranger);
  if (asked.ended || answered.ended || told.size() > kMostUnadmitted || stranger.heard.size() > kMostUnadmitted)
    close(stranger);
}

void StrangerFilter::admit(Stranger& stranger) {
  forget(stranger.outer);
  forget(stranger.inner);
  relay_.add(std::move(stranger.outer), std::move(stranger.inner));
  close(stranger, Key::kAdmitted);
}

// The socket itself counts those whose key it refuses.
void StrangerFilter::close(Stranger& stranger, Key key) {
  if (stranger.state == Stranger::State::kOver) return;
  if (stranger.state == Stranger::State::kExamined)
    examinations_.end(key == Key::kAdmitted);
  else
    ++refused_;
  forget(stranger.outer);
  forget(stranger.inner);
  stranger.outer.reset();
  stranger.inner.reset();
  strangers_.end(stranger);
}

// Closing the descriptor would not be enough: a child process has a copy of it until it runs its program.
void StrangerFilter::forget(const FileDescriptor& socket) {
  if (socket) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr);
}

void StrangerFilter::close_late(Clock::time_point now) {
  while (Stranger* late = strangers_.late(now)) close(*late);
}

}  // namespace trainyard::core
