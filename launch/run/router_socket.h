// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/transport/connection_limit.h"
#include "core/transport/run_keys.h"
#include "core/transport/stranger_filter.h"

namespace trainyard::launch {

/// The ROUTER socket that the launcher uses to exchange messages with the processes of its run. Its functions never
/// block. The first frame of every message is the identity of the peer that sent it or is to receive it.
class RouterSocket {
 public:
  using Frames = std::vector<std::string>;

  /// Whether the address is public, so that strangers (programs that are not admitted) can connect to it. A public
  /// address must be a TCP address. Strangers are kept away from the socket (core::StrangerFilter) and counted; see
  /// refusals().
  enum class Exposure : std::uint8_t { kInternal, kPublic };

  /// Binds the address `endpoint`. If `keys` is not empty, only processes that have the keys of the run can connect
  /// (core::accept_members). Throws kIo with the address and the reason.
  RouterSocket(zmq::context_t& context, const std::string& endpoint, const core::RunKeys& keys,
               Exposure exposure = Exposure::kInternal);

  /// Binds a further address, which is not public, with the same `keys` as in the constructor. Returns the address to
  /// connect to. Throws kIo with the address and the reason.
  std::string bind(const std::string& endpoint, const core::RunKeys& keys);

  /// Sends a message. Returns false if the peer is not connected, or if it has too many unread messages.
  bool send(const Frames& frames);

  /// Returns the next message, or an empty optional if none has arrived.
  std::optional<Frames> receive();

  /// Returns the number of connections that have been refused so far, because the other side had no admitted key or
  /// used another protocol; 0 if the address is not public. Also handles the events of connections that ZeroMQ has
  /// reported, so the owner must call it about once a second: events that nobody handles take up memory.
  std::uint64_t refusals();

  /// Returns the ZeroMQ socket, for PollLoop::watch_socket().
  void* handle() { return socket_.handle(); }

 private:
  std::unique_ptr<core::StrangerFilter> filter_;  ///< Null unless the address is public. Destroyed after the socket.
  zmq::socket_t socket_;
  std::unique_ptr<core::ConnectionLimit> connections_;  ///< Counts refused connections; null unless public.
};

}  // namespace trainyard::launch
