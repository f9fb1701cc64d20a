// SPDX-License-Identifier: Apache-2.0
#include "core/transport/socket_monitor.h"

#include <fmt/format.h>

#include <cstring>

#include "core/transport/frames.h"
#include "messages/error.h"

namespace trainyard::core {

zmq::socket_t monitor_of(zmq::context_t& context, zmq::socket_t& socket, int events) {
  const std::string address = fmt::format("inproc://monitor-{}", fmt::ptr(socket.handle()));
  if (zmq_socket_monitor(socket.handle(), address.c_str(), events) != 0) {
    throw Error(Code::kIo, "cannot watch the connections of a socket: {}", zmq_strerror(zmq_errno()));
  }
  zmq::socket_t monitor = make_socket(context, zmq::socket_type::pair);
  monitor.connect(address);
  return monitor;
}

void end_monitor(zmq::socket_t& socket) { zmq_socket_monitor(socket.handle(), nullptr, 0); }

// An event has two frames. The first contains its number (16 bits) and its value (32 bits); the second contains the
// address.
std::optional<SocketEvent> next_event(zmq::socket_t& monitor) {
  for (Frames frames; receive_frames(monitor, frames);) {
    std::uint16_t number = 0;
    SocketEvent event;
    if (frames.size() != 2 || frames[0].size() != sizeof number + sizeof event.value) continue;
    const auto* bytes = static_cast<const std::byte*>(frames[0].data());
    std::memcpy(&number, bytes, sizeof number);
    std::memcpy(&event.value, bytes + sizeof number, sizeof event.value);
    event.number = number;
    return event;
  }
  return std::nullopt;
}

}  // namespace trainyard::core
