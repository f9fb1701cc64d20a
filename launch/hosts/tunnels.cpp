// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/tunnels.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "launch/run/gateway_address.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr int kBacklog = 64;
/// Pieces are small, so that what else the hosts have to say to each other need not wait long.
constexpr std::size_t kPiece = std::size_t{16} << 10;
/// The end that writes reports it in such amounts, which leaves the other end room to send meanwhile.
constexpr std::size_t kReport = Tunnels::kWindow / 4;
/// A key with this bit is that of an entrance.
constexpr std::uint64_t kEntrance = std::uint64_t{1} << 63;
/// How long no connections are accepted if the system has no descriptor left for them.
constexpr std::chrono::milliseconds kRest{1000};

/// Returns the path of an ipc address; empty for another address and for a path that is too long.
std::string path_of(const std::string& address) {
  if (!address.starts_with(kIpc)) return "";
  const std::string path = address.substr(kIpc.size());
  return path.size() < sizeof(sockaddr_un::sun_path) ? path : "";
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

FileDescriptor make_unix_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Tunnels::Tunnels(PollLoop& loop, std::uint32_t host, std::string run_directory, Send send)
    : loop_(loop),
      host_(host),
      run_directory_(std::move(run_directory)),
      send_(std::move(send)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      watch_(loop.watch_file(events_.get(), [this] { serve(); })) {}

Tunnels::~Tunnels() {
  loop_.cancel(watch_);
  loop_.cancel(rest_);
}

void Tunnels::open_entrance(const Entrance& entrance) {
  const std::string address = entrance_address(run_directory_, entrance.process);
  const sockaddr_un path = unix_address(path_of(address));
  Door door{entrance, make_unix_socket()};
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = kEntrance | entrance.process}};
  if (::bind(door.socket.get(), reinterpret_cast<const sockaddr*>(&path), sizeof path) != 0 ||
      ::listen(door.socket.get(), kBacklog) != 0 ||
      ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, door.socket.get(), &event) != 0) {
    throw Error(Code::kIo, "cannot listen at {}: {}", address, std::strerror(errno));
  }
  doors_[entrance.process] = std::move(door);
}

// The hosts have at most 2^31 numbers, so the highest bit is free.
Tunnels::Key Tunnels::key_of(const TunnelPart& part) {
  return (std::uint64_t{part.near_host & 0x7fff'ffffU} << 32) | part.number;
}

std::size_t Tunnels::between(std::uint32_t near_host, std::uint32_t far_host) const {
  return static_cast<std::size_t>(std::ranges::count_if(tunnels_, [&](const auto& entry) {
    return entry.second.name.near_host == near_host && entry.second.name.far_host == far_host;
  }));
}

// Each socket has its turn; what it still has to say afterwards is reported again.
bool Tunnels::serve() {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const Key key = events[static_cast<std::size_t>(i)].data.u64;
    if ((key & kEntrance) != 0) {
      accept(doors_.at(static_cast<std::uint32_t>(key)));
      continue;
    }
    const auto tunnel = tunnels_.find(key);
    if (tunnel == tunnels_.end()) continue;
    const std::uint32_t what = events[static_cast<std::size_t>(i)].events;
    // A socket that has been closed by its other side is readable, too: the end is read.
    const bool open = ((what & EPOLLOUT) == 0 || write(tunnel->second)) &&
                      ((what & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0 || read(tunnel->second));
    if (open) {
      watch(key, tunnel->second);
    } else {
      close(tunnel, !tunnel->second.closing);
    }
  }
  return count > 0;
}

void Tunnels::accept(const Door& door) {
  FileDescriptor socket(::accept4(door.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    if (!would_block() && errno != ECONNABORTED) rest();
    return;
  }
  if (between(host_, door.entrance.host) >= kMost) {
    ++refused_;
    return;
  }
  TunnelPart part{.near_host = host_, .far_host = door.entrance.host, .number = next_number_++, .to_far = true};
  TunnelPart first = part;
  first.process = door.entrance.process;
  first.opens = true;
  if (send_(first)) add(part, std::move(socket));
}

/// Without this, the loop would try again at once, and do nothing else.
void Tunnels::rest() {
  const auto all = [this](std::uint32_t events) {
    for (auto& [process, door] : doors_) {
      epoll_event event = {.events = events, .data = {.u64 = kEntrance | process}};
      ::epoll_ctl(events_.get(), EPOLL_CTL_MOD, door.socket.get(), &event);
    }
  };
  all(0);
  loop_.cancel(rest_);
  rest_ = loop_.after(kRest, [all] { all(EPOLLIN); });
}

void Tunnels::handle(const TunnelPart& part) {
  if ((part.to_far ? part.far_host : part.near_host) != host_) return;
  if (part.opens) return connect(part);
  const auto tunnel = tunnels_.find(key_of(part));
  // A tunnel that was closed here may still be spoken into at its other end.
  if (tunnel == tunnels_.end() || tunnel->second.name.to_far == part.to_far) return;
  if (take(tunnel->second, part)) {
    watch(tunnel->first, tunnel->second);
  } else {
    close(tunnel, !part.closed);
  }
}

/// Connects to a gateway of this host. Other sockets cannot be reached.
void Tunnels::connect(const TunnelPart& part) {
  TunnelPart name{.near_host = part.near_host, .far_host = host_, .number = part.number, .to_far = false};
  const std::string path = path_of(part.gateway);
  const std::string folder = run_directory_ + "/";
  FileDescriptor socket;
  if (part.to_far && !tunnels_.contains(key_of(part)) && between(part.near_host, host_) < kMost &&
      path.starts_with(folder) && path.find('/', folder.size()) == std::string::npos) {
    const sockaddr_un address = unix_address(path);
    socket = make_unix_socket();
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket.reset();
  }
  if (socket) return add(name, std::move(socket));
  name.closed = true;
  send_(name);
}

void Tunnels::add(const TunnelPart& name, FileDescriptor socket) {
  const Key key = key_of(name);
  Tunnel& tunnel = tunnels_[key];
  tunnel.name = name;
  tunnel.socket = std::move(socket);
  watch(key, tunnel);
}

// A socket of which nothing is wanted is not watched at all, because the system would report again and again that its
// other side is closed.
void Tunnels::watch(Key key, Tunnel& tunnel) {
  std::uint32_t wanted = 0;
  if (tunnel.sent < kWindow && !tunnel.closing) wanted |= EPOLLIN;
  if (!tunnel.pending.empty()) wanted |= EPOLLOUT;
  if (wanted == tunnel.watched) return;
  const int change = wanted == 0 ? EPOLL_CTL_DEL : tunnel.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  tunnel.watched = wanted;
  epoll_event event = {.events = wanted, .data = {.u64 = key}};
  ::epoll_ctl(events_.get(), change, tunnel.socket.get(), &event);
}

bool Tunnels::take(Tunnel& tunnel, const TunnelPart& part) {
  if (part.written > tunnel.sent || tunnel.pending.size() + part.bytes.size() > kWindow) return false;
  tunnel.sent -= part.written;
  tunnel.pending += part.bytes;
  if (part.closed) tunnel.closing = true;
  return write(tunnel);
}

bool Tunnels::read(Tunnel& tunnel) {
  std::array<char, kPiece> piece;
  const std::size_t most = std::min(piece.size(), kWindow - tunnel.sent);
  if (most == 0) return true;
  const ssize_t got = ::recv(tunnel.socket.get(), piece.data(), most, 0);
  if (got <= 0) return got < 0 && would_block();
  tunnel.sent += static_cast<std::size_t>(got);
  return send(tunnel, std::string(piece.data(), static_cast<std::size_t>(got)), 0);
}

bool Tunnels::write(Tunnel& tunnel) {
  if (!tunnel.pending.empty()) {
    const ssize_t done = ::send(tunnel.socket.get(), tunnel.pending.data(), tunnel.pending.size(), MSG_NOSIGNAL);
    if (done < 0 && !would_block()) return false;
    if (done > 0) {
      tunnel.pending.erase(0, static_cast<std::size_t>(done));
      tunnel.written += static_cast<std::size_t>(done);
    }
  }
  if (tunnel.closing) return !tunnel.pending.empty();
  if (tunnel.written < kReport) return true;
  return send(tunnel, "", std::exchange(tunnel.written, 0));
}

bool Tunnels::send(const Tunnel& tunnel, std::string bytes, std::size_t written, bool closed) {
  TunnelPart part = tunnel.name;
  part.bytes = std::move(bytes);
  part.written = static_cast<std::uint32_t>(written);
  part.closed = closed;
  return send_(part);
}

void Tunnels::close(Iterator tunnel, bool tell) {
  const Tunnel closed = std::move(tunnel->second);
  tunnels_.erase(tunnel);
  if (tell) send(closed, "", 0, true);
}

void Tunnels::lose(std::uint32_t host) {
  std::erase_if(tunnels_, [&](const auto& entry) {
    return entry.second.name.near_host == host || entry.second.name.far_host == host;
  });
}

}  // namespace trainyard::launch
