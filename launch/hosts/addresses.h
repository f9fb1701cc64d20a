// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace trainyard::launch {

/// Returns the IPv4 address of a host, given by name or address. Throws kNotFound if the name cannot be resolved.
std::string resolve_host(const std::string& host);

/// Returns the address of the interface of this machine over which packets to `address` leave. Throws kIo if there is
/// none.
std::string address_towards(const std::string& address);

/// What happens to connections to ports of a host.
struct Probe {
  enum class Answer : std::uint8_t {
    kOpen,         ///< Somebody listens at one of the ports.
    kRefused,      ///< The host answers that nobody listens at any of them.
    kSilent,       ///< Nothing comes back.
    kUnreachable,  ///< The network, or a firewall, says that the host cannot be reached.
  };
  Answer answer = Answer::kSilent;
  std::string problem;  ///< What the system says, for kUnreachable.
};

/// Tries to connect to each of the ports, all at once, and closes the connections again. Takes half a second at most.
Probe probe_ports(const std::string& address, std::span<const std::uint16_t> ports);

/// Returns true if `address` belongs to this machine.
bool is_own_address(const std::string& address);

/// Returns true for an address of the loopback interface.
bool is_loopback(const std::string& address);

}  // namespace trainyard::launch
