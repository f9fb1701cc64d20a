// SPDX-License-Identifier: Apache-2.0
#include "core/transport/tcp_listener.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "messages/error.h"

namespace trainyard::core {
namespace {

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
FileDescriptor listen_at(const addrinfo& to, int most_pending) {
  FileDescriptor socket(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return socket;
  const int on = 1, off = 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // The socket for all IPv6 addresses accepts connections over IPv4, too.
  if (to.ai_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(socket.get(), to.ai_addr, to.ai_addrlen) == 0 && ::listen(socket.get(), most_pending) == 0) return socket;
  const int error = errno;
  socket.reset();
  errno = error;
  return socket;
}

}  // namespace

FileDescriptor listen_at(const std::string& address, int most_pending) {
  const auto found = parsed(address);
  int error = 0;
  for (const addrinfo* to = found.get(); to != nullptr; to = to->ai_next) {
    FileDescriptor socket = listen_at(*to, most_pending);
    if (socket) return socket;
    if (error == 0) error = errno;
  }
  cannot_bind(address, std::strerror(error));
}

std::string endpoint_of(const FileDescriptor& listener) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(), port.data(), port.size(),
                NI_NUMERICHOST | NI_NUMERICSERV);
  if (address.ss_family == AF_INET6) return fmt::format("tcp://[{}]:{}", host.data(), port.data());
  return fmt::format("tcp://{}:{}", host.data(), port.data());
}

void prepare_connection(const FileDescriptor& socket) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.get(), level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace trainyard::core
