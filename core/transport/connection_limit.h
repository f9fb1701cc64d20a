// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <zmq.hpp>

#include "core/loop/event_loop.h"

namespace trainyard::core {

/// A limit on the number of connections to a bound socket. It is needed because libzmq ends the process when no
/// descriptor is left for a new connection. libzmq can neither refuse nor close a single connection. When the limit is
/// reached, this class therefore closes all connections, and makes the socket listen again when they are closed.
/// Clients that follow the protocol then reconnect.
///
/// libzmq accepts connections on a thread of its own, so their number may exceed the limit for a moment.
class ConnectionLimit final : public Source {
 public:
  /// Watches `socket`, which must not be bound yet and must outlive this object. `most` is the maximum number of
  /// connections. This object must be added to the event loop on which `socket` is used.
  ConnectionLimit(zmq::context_t& context, zmq::socket_t& socket, std::size_t most);
  ~ConnectionLimit() override;
  ConnectionLimit(const ConnectionLimit&) = delete;

  /// Binds the socket, and returns the address to which clients connect. If `address` has '*' in place of a port, the
  /// returned address contains the actual port. Throws kIo if the address cannot be bound.
  const std::string& bind(const std::string& address);

  const std::string& endpoint() const { return endpoint_; }
  std::size_t connections() const { return connections_.size(); }
  bool listening() const { return listening_; }
  /// Returns the number of connections that were refused because the other side had no admitted key or did not follow
  /// ZeroMQ's protocol.
  std::uint64_t refused() const { return refused_; }

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(events_).handle(); }

 private:
  void listen_or_not(bool closed);

  zmq::socket_t& socket_;
  std::size_t most_;
  zmq::socket_t events_;
  std::string endpoint_;
  std::set<int> connections_;  ///< The descriptors of the connections.
  std::uint64_t refused_ = 0;
  bool listening_ = false;
};

/// Raises the number of descriptors that this process may open to the maximum that the system allows. Returns this
/// maximum, or 0 if the system does not report it.
std::size_t raise_descriptor_limit();

}  // namespace trainyard::core
