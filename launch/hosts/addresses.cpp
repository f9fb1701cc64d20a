// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/addresses.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "launch/run/file_descriptor.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

constexpr std::uint16_t kAnyPort = 9;  // Nothing is sent to this port, but connect() requires a destination.

using Found = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// Returns what the system knows of a host. `error` is the result of getaddrinfo().
Found look_up(const std::string& host, int flags, int& error) {
  addrinfo hints = {};
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  return {error == 0 ? found : nullptr, &::freeaddrinfo};
}

std::string address_text(const sockaddr* address, socklen_t size) {
  char text[NI_MAXHOST] = {};
  ::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

}  // namespace

SocketAddress socket_address(const std::string& address, std::uint16_t port) {
  int error = 0;
  const Found found = look_up(address, AI_NUMERICHOST, error);
  if (found == nullptr) {
    throw Error(Code::kInvalidArgument, "'{}' is neither an IPv4 nor an IPv6 address", address);
  }
  SocketAddress out{.size = found->ai_addrlen};
  std::memcpy(&out.storage, found->ai_addr, found->ai_addrlen);
  // The port is at the same place in both forms.
  reinterpret_cast<sockaddr_in&>(out.storage).sin_port = htons(port);
  return out;
}

// Hosts that have both kinds of addresses have always met over IPv4.
std::string resolve_host(const std::string& host) {
  int error = 0;
  const Found found = look_up(host, 0, error);
  if (found == nullptr) throw Error(Code::kNotFound, "the host '{}' has no address: {}", host, ::gai_strerror(error));
  const addrinfo* first = nullptr;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET) return address_text(each->ai_addr, each->ai_addrlen);
    if (first == nullptr && each->ai_family == AF_INET6) first = each;
  }
  if (first == nullptr) throw Error(Code::kNotFound, "the host '{}' has neither an IPv4 nor an IPv6 address", host);
  return address_text(first->ai_addr, first->ai_addrlen);
}

// Connects a datagram socket, which sends nothing, and asks the kernel which local address the socket uses.
std::string address_towards(const std::string& address) {
  const SocketAddress to = socket_address(address, kAnyPort);
  const FileDescriptor socket(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketAddress own{.size = sizeof own.storage};
  if (::connect(socket.get(), to.get(), to.size) != 0 || ::getsockname(socket.get(), own.get(), &own.size) != 0) {
    throw Error(Code::kIo, "no interface of this host leads to {}: {}", address, std::strerror(errno));
  }
  return address_text(own.get(), own.size);
}

bool is_own_address(const std::string& address) {
  const SocketAddress own = socket_address(address, 0);
  const FileDescriptor socket(::socket(own.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::bind(socket.get(), own.get(), own.size) == 0;
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

bool means_loopback(const std::string& host) { return host == "localhost" || is_loopback(host); }

bool has_ipv6() {
  const SocketAddress any = socket_address("::", 0);
  const FileDescriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket && ::bind(socket.get(), any.get(), any.size) == 0;
}

std::string tcp_endpoint(const std::string& address, const std::string& port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("tcp://[{}]:{}", address, port) : fmt::format("tcp://{}:{}", address, port);
}

}  // namespace trainyard::launch
