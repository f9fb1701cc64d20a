// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/addresses.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "launch/run/file_descriptor.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

constexpr std::uint16_t kAnyPort = 9;  // Nothing is sent; the kernel only wants a destination.

sockaddr_in socket_address(const std::string& address, std::uint16_t port) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &out.sin_addr) != 1) {
    throw Error(Code::kInvalidArgument, "'{}' is not an IPv4 address", address);
  }
  return out;
}

constexpr std::chrono::milliseconds kProbe{500};

/// Returns the error of a connection that was begun: 0 if it stands.
int error_of_connection(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/// Adds what happened to one connection. What says most about the host counts.
void add_error(Probe& probe, int error) {
  if (error == 0) {
    probe.answer = Probe::Answer::kOpen;
  } else if (error == ECONNREFUSED) {
    if (probe.answer != Probe::Answer::kOpen) probe.answer = Probe::Answer::kRefused;
  } else if (error != ETIMEDOUT && probe.answer == Probe::Answer::kSilent) {
    probe = {Probe::Answer::kUnreachable, std::strerror(error)};
  }
}

std::string address_text(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return text;
}

}  // namespace

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

// A datagram socket is connected without sending anything; the kernel then says which address it would use.
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

Probe probe_ports(const std::string& address, std::span<const std::uint16_t> ports) {
  Probe probe;
  std::vector<FileDescriptor> sockets;
  std::vector<pollfd> waiting;
  for (const std::uint16_t port : ports) {
    const sockaddr_in to = socket_address(address, port);
    FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const bool connected = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    if (connected || errno != EINPROGRESS) {
      add_error(probe, connected ? 0 : errno);
      continue;
    }
    waiting.push_back({.fd = socket.get(), .events = POLLOUT, .revents = 0});
    sockets.push_back(std::move(socket));
  }
  const auto end = std::chrono::steady_clock::now() + kProbe;
  while (!waiting.empty() && probe.answer != Probe::Answer::kOpen) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(waiting.data(), waiting.size(), static_cast<int>(left.count())) <= 0) break;
    for (const pollfd& one : waiting) {
      if (one.revents != 0) add_error(probe, error_of_connection(one.fd));
    }
    std::erase_if(waiting, [](const pollfd& one) { return one.revents != 0; });
  }
  return probe;
}

bool is_own_address(const std::string& address) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in own = socket_address(address, 0);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0;
}

bool is_loopback(const std::string& address) { return address.starts_with("127."); }

}  // namespace trainyard::launch
