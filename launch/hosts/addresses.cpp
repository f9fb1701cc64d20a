// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/addresses.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "launch/run/file_descriptor.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

constexpr std::uint16_t kAnyPort = 9;  // Nothing is sent to this port, but connect() requires a destination.

std::string address_text(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return text;
}

}  // namespace

sockaddr_in socket_address(const std::string& address, std::uint16_t port) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &out.sin_addr) != 1) {
    throw Error(Code::kInvalidArgument, "'{}' is not an IPv4 address", address);
  }
  return out;
}

std::string resolve_host(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    throw Error(Code::kNotFound, "the host '{}' has no IPv4 address: {}", host, ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  return address_text(*reinterpret_cast<const sockaddr_in*>(found->ai_addr));
}

// Connects a datagram socket, which sends nothing, and asks the kernel which local address the socket uses.
std::string address_towards(const std::string& address) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = socket_address(address, kAnyPort);
  sockaddr_in own = {};
  socklen_t size = sizeof own;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    throw Error(Code::kIo, "no interface of this host leads to {}: {}", address, std::strerror(errno));
  }
  return address_text(own);
}

bool is_own_address(const std::string& address) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in own = socket_address(address, 0);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0;
}

bool is_loopback(const std::string& address) { return address.starts_with("127."); }

bool means_loopback(const std::string& host) { return host == "localhost" || is_loopback(host); }

}  // namespace trainyard::launch
