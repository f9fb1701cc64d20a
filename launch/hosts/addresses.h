// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>

namespace trainyard::launch {

/// Returns the IPv4 address of a host, given by name or address. Throws kNotFound if the name cannot be resolved.
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

/// Returns the address and port in the form that system calls require. Throws kInvalidArgument if `address` is not an
/// IPv4 address.
sockaddr_in socket_address(const std::string& address, std::uint16_t port);

}  // namespace trainyard::launch
