// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace trainyard::launch {

/// Returns the IPv4 address of a host, given by name or address. Throws kNotFound if the name cannot be resolved.
std::string resolve_host(const std::string& host);

/// Returns the address of the interface of this machine over which packets to `address` leave. Throws kIo if there is
/// none.
std::string address_towards(const std::string& address);

/// Returns true if `address` belongs to this machine.
bool is_own_address(const std::string& address);

/// Returns true for an address of the loopback interface.
bool is_loopback(const std::string& address);

}  // namespace trainyard::launch
