// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace trainyard::launch {

/// Returns the address of a host, given by name or address: the first IPv4 address, or else the first IPv6 address.
/// May block for many seconds; NameLookup does not. Throws kNotFound if the name cannot be resolved.
std::string resolve_host(const std::string& host);

/// Returns the address of the interface of this machine through which packets to `address` are sent. Throws kIo if the
/// kernel knows no route to `address`.
std::string address_towards(const std::string& address);

/// Returns true if `address` belongs to this machine.
bool is_own_address(const std::string& address);

/// Returns true for an address of the loopback interface.
bool is_loopback(const std::string& address);

/// Returns true if `host` is "localhost" or an address of the loopback interface. Other names are not resolved.
bool means_loopback(const std::string& host);

/// Returns true if this machine can use IPv6.
bool has_ipv6();

/// Returns the address of a ZeroMQ socket: "tcp://10.0.0.1:7000", or "tcp://[fd00::1]:7000" for an IPv6 address. `port`
/// may be "*".
std::string tcp_endpoint(const std::string& address, const std::string& port);

/// An address and a port in the form that system calls require.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// Returns the address and port in the form that system calls require. Throws kInvalidArgument if `address` is neither
/// an IPv4 nor an IPv6 address.
SocketAddress socket_address(const std::string& address, std::uint16_t port);

}  // namespace trainyard::launch
