// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <zmq.hpp>

#include "core/loop/event_loop.h"

namespace trainyard::core {

/// Keeps the connections to a bound socket below a number, because libzmq ends the process when it has no descriptor left
/// for one more. At the limit it closes all of them and listens again when they have gone: libzmq offers no way to refuse
/// one or to close one. Clients that keep to the rules connect again by themselves.
///
/// libzmq accepts connections on a thread of its own, so there may be some more than the limit before it is noticed.
class ConnectionLimit final : public Source {
 public:
  /// Watches `socket`, which is not bound yet and must outlive this object.
  ConnectionLimit(zmq::context_t& context, zmq::socket_t& socket, std::size_t most);
  ~ConnectionLimit() override;
  ConnectionLimit(const ConnectionLimit&) = delete;

  /// Binds the socket, and returns the address to connect to. Throws kIo.
  const std::string& bind(const std::string& address);

  const std::string& endpoint() const { return endpoint_; }
  std::size_t connections() const { return connections_.size(); }
  bool listening() const { return listening_; }

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(events_).handle(); }

 private:
  void listen_or_not();

  zmq::socket_t& socket_;
  std::size_t most_;
  zmq::socket_t events_;
  std::string endpoint_;
  std::set<int> connections_;  ///< By their descriptors.
  bool listening_ = false;
};

/// Raises the number of descriptors that this process may have to the most that the system allows it. Returns the
/// number.
std::size_t raise_descriptor_limit();

}  // namespace trainyard::core
