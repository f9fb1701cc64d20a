// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "streams/connection.h"
#include "streams/socket.h"

namespace trainyard::streams {

/// A range of TCP ports. {0, 0} lets the kernel choose a port.
struct Ports {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

/// Reads a range of ports: "any", "20000" or "20000-20100". Throws kInvalidArgument for any other text.
Ports read_ports(const std::string& text);

/// Returns the address, as text, of the network interface `name`: the first IPv4 address, or else the first IPv6
/// address that is not link-local. `name` may also be an address of this machine, which is then returned. Throws
/// kInvalidArgument, naming the interfaces of this machine, if there is no such interface or it is not up.
std::string address_of_interface(const std::string& name);

/// Returns the address of the first interface that is up, has an address and is not the loopback interface. Throws
/// kNotFound if there is none.
std::string address_of_any_interface();

/// A socket that accepts connections at one address of this machine. It never blocks the caller.
class Listener {
 public:
  /// Listens on a free port in `ports`. Throws kIo, naming the address and the ports, if all ports are taken or the
  /// address does not belong to this machine.
  Listener(const std::string& address, const Ports& ports);

  int fd() const { return socket_.fd(); }
  /// Returns the address with the port: "10.0.0.1:20000", "[fd00::1]:20000".
  const std::string& endpoint() const { return endpoint_; }
  /// Accepts a connection that has arrived, and sets `from` to the address of the other side. Returns an empty socket
  /// if there is none.
  Socket accept(std::string& from);

 private:
  Socket socket_;
  std::string endpoint_;
};

/// Begins to connect to an address that Listener::endpoint() has returned. The socket becomes writable when the
/// connection has been made or has failed. Throws kCorrupt if `endpoint` is not such an address, and kIo if no socket
/// can be made. Returns an empty socket if the connection was refused immediately.
Socket connect_to(const std::string& endpoint);

/// Returns the address of the other side of a connection, without the port.
std::string address_of_other(const Connection& connection);

/// Sets the options that streams need, such as TCP_NODELAY, so that small messages are sent immediately.
void prepare(const Socket& socket);

}  // namespace trainyard::streams
