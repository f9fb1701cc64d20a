// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <zmq.hpp>

namespace trainyard::core {

/// Something that libzmq has done with a connection of a socket.
struct SocketEvent {
  int number = 0;          ///< One of ZMQ_EVENT_...; zmq_socket_monitor(3) describes them.
  std::int32_t value = 0;  ///< Usually the descriptor of the connection; for a retry, the interval in milliseconds.
};

/// Returns a socket through which libzmq reports the given events (ZMQ_EVENT_..., combined with `|`) of `socket`. A
/// socket can have only one monitor. Throws kIo if no socket is left. The reports end when `socket` is closed, or with
/// end_monitor().
zmq::socket_t monitor_of(zmq::context_t& context, zmq::socket_t& socket, int events);

/// Ends the reports about `socket`.
void end_monitor(zmq::socket_t& socket);

/// Returns the next event, or nothing if none has been reported. Never blocks.
std::optional<SocketEvent> next_event(zmq::socket_t& monitor);

}  // namespace trainyard::core
