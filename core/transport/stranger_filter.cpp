// SPDX-License-Identifier: Apache-2.0
#include "core/transport/stranger_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "core/transport/connection_limit.h"
#include "core/transport/quiet_thread.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

/// As many connections may arrive at the same moment. The kernel repeats the packets of further ones only after a
/// second.
constexpr int kMostPending = 4096;
/// How many keys may be examined at the same time or fail at once, and how many more may fail per second. Examining a
/// key takes the socket's thread about half a millisecond.
constexpr double kMostExamined = 64, kMostFailuresPerSecond = 20;
/// The most bytes of one side before its key is admitted, apart from the opening.
constexpr std::size_t kMostUnadmitted = 16 << 10;
/// How many connections are accepted before those that exist get their turn.
constexpr int kAcceptedAtOnce = 64;
constexpr std::chrono::milliseconds kStrangerLook{50};
/// Strangers get less processor time than those who have been admitted.
constexpr int kLessPriority = 10;
/// How many of the last keys of HELLOs are remembered at least; at most twice as many.
constexpr std::size_t kRecentKeys = 16 << 10;
/// How many descriptors of the process are left for other purposes, and for how long their count is trusted. libzmq
/// ends the process if it has no descriptor for a connection to a Unix socket.
constexpr std::size_t kSpareDescriptors = 128;
constexpr std::chrono::milliseconds kCountAge{200};
/// An admitted connection takes one descriptor in the filter for each side, and one in libzmq.
constexpr std::size_t kDescriptorsEach = 3;

[[noreturn]] void cannot_bind(const std::string& address, const char* reason) {
  throw Error(Code::kIo, "cannot bind {}: {}", address, reason);
}

/// Returns the first IPv4 address of the network interface `name`, or `name` if there is no such interface.
std::string address_of_interface(const std::string& name) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return name;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (name != each->ifa_name || each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, NI_MAXHOST> host{};
    if (::getnameinfo(each->ifa_addr, sizeof(sockaddr_in), host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) == 0)
      return host.data();
  }
  return name;
}

/// Returns the socket addresses that an address such as "tcp://[::1]:7000" or "tcp://eth0:7000" stands for.
std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> parsed(const std::string& address) {
  constexpr std::string_view kTcp = "tcp://";
  const std::size_t colon = address.rfind(':');
  if (!address.starts_with(kTcp) || colon < kTcp.size()) cannot_bind(address, "it must look like tcp://127.0.0.1:7000");
  std::string host = address.substr(kTcp.size(), colon - kTcp.size()), port = address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  host = address_of_interface(host);
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(host == "*" ? nullptr : host.c_str(), port == "*" ? "0" : port.c_str(), &hints, &found);
  if (error != 0) cannot_bind(address, ::gai_strerror(error));
  return {found, &::freeaddrinfo};
}

/// Returns a listening socket, or none and sets errno.
FileDescriptor listen_at(const addrinfo& to) {
  FileDescriptor socket(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return socket;
  const int on = 1, off = 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // The socket for all IPv6 addresses accepts connections over IPv4, too.
  if (to.ai_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(socket.get(), to.ai_addr, to.ai_addrlen) == 0 && ::listen(socket.get(), kMostPending) == 0) return socket;
  const int error = errno;
  socket.reset();
  errno = error;
  return socket;
}

FileDescriptor listen_at(const std::string& address) {
  const auto found = parsed(address);
  int error = 0;
  for (const addrinfo* to = found.get(); to != nullptr; to = to->ai_next) {
    FileDescriptor socket = listen_at(*to);
    if (socket) return socket;
    if (error == 0) error = errno;
  }
  cannot_bind(address, std::strerror(error));
}

std::string endpoint_of(const FileDescriptor& socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(), port.data(), port.size(),
                NI_NUMERICHOST | NI_NUMERICSERV);
  if (address.ss_family == AF_INET6) return fmt::format("tcp://[{}]:{}", host.data(), port.data());
  return fmt::format("tcp://{}:{}", host.data(), port.data());
}

/// The path of a file without a name, of which this process has a descriptor.
std::string path_of(const FileDescriptor& file) { return fmt::format("/proc/self/fd/{}", file.get()); }

/// Returns the folder for temporary files, or /tmp if the address of a Unix socket could not contain its path.
std::string temporary_folder() {
  constexpr std::size_t kLongestPath = 80;
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  return error || folder.size() > kLongestPath ? "/tmp" : folder;
}

/// A folder that only this user can enter. The destructor removes it.
class PrivateFolder {
 public:
  PrivateFolder() : path_(temporary_folder() + "/trainyard_XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr)
      throw Error(Code::kIo, "cannot make a folder like {}: {}", path_, std::strerror(errno));
  }
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Binds the socket to a Unix socket in a private folder, and removes both at once, so that nobody else can connect and
/// nothing is left when the process is killed. The descriptor that is returned still leads to the socket.
FileDescriptor bind_inside(zmq::socket_t& socket) {
  const PrivateFolder folder;
  const std::string path = folder.path() + "/door";
  try {
    socket.set(zmq::sockopt::backlog, kMostPending);
    socket.bind("ipc://" + path);
  } catch (const zmq::error_t& error) {
    cannot_bind(path, error.what());
  }
  FileDescriptor door(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!door) cannot_bind(path, std::strerror(errno));
  if (::access(path_of(door).c_str(), W_OK) != 0)
    throw Error(Code::kUnsupported, "{}: {}; is /proc mounted?", path_of(door), std::strerror(errno));
  return door;
}

FileDescriptor connect_inside(const FileDescriptor& door) {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  std::ranges::copy(path_of(door), to.sun_path);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) socket.reset();
  return socket;
}

/// Returns how many descriptors this process may still open.
std::size_t descriptors_left() {
  rlimit limit{};
  std::error_code error;
  std::filesystem::directory_iterator file("/proc/self/fd", error);
  if (error || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  std::size_t open = 0;
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) ++open;
  return limit.rlim_cur > open ? static_cast<std::size_t>(limit.rlim_cur) - open : 0;
}

/// Throws if the system could not make the descriptor.
FileDescriptor checked(int descriptor) {
  if (descriptor < 0) throw Error(Code::kIo, "cannot wait for connections: {}", std::strerror(errno));
  return FileDescriptor(descriptor);
}

/// Sends small messages at once, and closes the connection of a host that has failed after about a minute.
void prepare(const FileDescriptor& socket) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.get(), level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
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

bool StrangerFilter::RecentKeys::is_new(std::string_view key) {
  std::string kept(key);
  if (older_.contains(kept) || !newest_.insert(std::move(kept)).second) return false;
  if (newest_.size() >= kRecentKeys) older_ = std::exchange(newest_, {});
  return true;
}

StrangerFilter::StrangerFilter(zmq::socket_t& socket, const std::string& address, const Limits& limits)
    : limits_(limits),
      opening_(socket.get(zmq::sockopt::curve_secretkey)),
      patience_(socket.get(zmq::sockopt::handshake_ivl)),
      listener_(listen_at(address)),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC))),
      wakeup_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      relay_(limits.buffer),
      allowance_(kMostExamined) {
  endpoint_ = endpoint_of(listener_);
  inner_ = bind_inside(socket);
  for (FileDescriptor* each : {&listener_, &wakeup_}) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = each}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, each->get(), &event) != 0) cannot_bind(address, std::strerror(errno));
  }
  thread_ = quiet_thread("strangers", [this] { run(); });
}

StrangerFilter::~StrangerFilter() {
  stopping_ = true;
  ::eventfd_write(wakeup_.get(), 1);
  thread_.join();
}

void StrangerFilter::run() {
  ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + kLessPriority);  // Of this thread alone.
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
    earn(now);
    close_late(now);
    examine_next();
    over_.clear();  // Only now, because several events may be those of one stranger.
  }
}

int StrangerFilter::milliseconds_to_wait() const {
  if (strangers_.empty() && knowing_.empty()) return -1;
  if (!waiting_.empty()) return static_cast<int>(kStrangerLook.count());
  auto first = Clock::time_point::max();
  for (const std::list<Stranger>* some : {&strangers_, &knowing_}) {
    if (!some->empty()) first = std::min(first, some->front().last);
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count() + 1, 0));
}

void StrangerFilter::accept() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    FileDescriptor outer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!outer && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      // Without a descriptor for it, the connection would wait and this thread would not.
      if (strangers_.empty()) std::this_thread::sleep_for(kStrangerLook);
      if (!strangers_.empty()) close(strangers_.front());
    }
    if (!outer) return;
    if (strangers_.size() >= limits_.strangers) close(strangers_.front());
    prepare(outer);
    Stranger& stranger = strangers_.emplace_back();
    stranger.outer = std::move(outer);
    stranger.last = Clock::now() + patience_;
    stranger.place = std::prev(strangers_.end());
    epoll_event event{.events = EPOLLIN | EPOLLRDHUP, .data = {.ptr = &stranger}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stranger.outer.get(), &event) != 0) close(stranger);
  }
}

void StrangerFilter::handle(Stranger& stranger) {
  switch (stranger.state) {
    case State::kOpening:
      return hear(stranger);
    case State::kExamined:
      return pass_between(stranger);
    case State::kWaiting:
      return close(stranger);  // It must not send anything now, so it has ended.
    case State::kOver:
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
      waiting_.size() >= limits_.strangers) {
    return close(stranger);
  }
  stranger.state = State::kWaiting;
  stranger.last = Clock::now() + patience_;
  knowing_.splice(knowing_.end(), strangers_, stranger.place);
  waiting_.push_back(&stranger);
}

void StrangerFilter::earn(Clock::time_point now) {
  const std::chrono::duration<double> passed = now - earned_;
  earned_ = now;
  allowance_ =
      std::min(allowance_ + kMostFailuresPerSecond * passed.count(), kMostExamined - static_cast<double>(examined_));
}

void StrangerFilter::examine_next() {
  while (!waiting_.empty() && allowance_ >= 1 && relay_.pairs() + examined_ < limits_.admitted) {
    Stranger& next = *waiting_.front();
    if (!has_descriptors()) {
      close(next);
      continue;
    }
    waiting_.pop_front();
    examine(next);
  }
}

bool StrangerFilter::has_descriptors() {
  const auto now = Clock::now();
  if (may_examine_ == 0 || now > counted_ + kCountAge) {
    counted_ = now;
    const std::size_t left = descriptors_left();
    // Further strangers must not take the last ones before libzmq has accepted the connection.
    const std::size_t spare = kSpareDescriptors + 2 * limits_.strangers - strangers_.size() - waiting_.size();
    may_examine_ = left > spare ? (left - spare) / kDescriptorsEach : 0;
  }
  if (may_examine_ == 0) return false;
  --may_examine_;
  return true;
}

void StrangerFilter::examine(Stranger& stranger) {
  stranger.state = State::kExamined;
  ++examined_;
  allowance_ -= 1;
  stranger.inner = connect_inside(inner_);
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
  allowance_ += 1;
  close(stranger);
}

// The socket itself counts those whose key it refuses.
void StrangerFilter::close(Stranger& stranger) {
  if (stranger.state == State::kOver) return;
  if (stranger.state == State::kExamined)
    --examined_;
  else
    ++refused_;
  if (stranger.state == State::kWaiting) waiting_.remove(&stranger);
  std::list<Stranger>& list = stranger.state == State::kOpening ? strangers_ : knowing_;
  stranger.state = State::kOver;
  forget(stranger.outer);
  forget(stranger.inner);
  stranger.outer.reset();
  stranger.inner.reset();
  over_.splice(over_.end(), list, stranger.place);
}

// Closing the descriptor would not be enough: a child process has a copy of it until it runs its program.
void StrangerFilter::forget(const FileDescriptor& socket) {
  if (socket) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr);
}

void StrangerFilter::close_late(Clock::time_point now) {
  for (std::list<Stranger>* some : {&strangers_, &knowing_}) {
    while (!some->empty() && some->front().last <= now) close(some->front());
  }
}

}  // namespace trainyard::core
