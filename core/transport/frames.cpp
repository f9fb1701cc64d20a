// SPDX-License-Identifier: Apache-2.0
#include "core/transport/frames.h"

#include <cstdint>
#include <cstring>
#include <memory>

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::core {
namespace {

zmq::socket_t open_socket(zmq::context_t& context, zmq::socket_type type) {
  try {
    return {context, type};
  } catch (const zmq::error_t& error) {
    throw Error(Code::kIo, "cannot open a socket: {}", error.what());
  }
}

}  // namespace

bool receive_frames(zmq::socket_t& socket, Frames& frames) {
  constexpr std::size_t kMost = kMaxPayloads + 8;
  frames.clear();
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    zmq::message_t frame;
    // Only the first frame can be missing, because libzmq delivers messages whole.
    if (!socket.recv(frame, zmq::recv_flags::dontwait)) return false;
    more = frame.more();
    // The frames of a message that is too long are read and discarded, because the next message begins after them.
    if (count < kMost) frames.push_back(std::move(frame));
  }
  if (count > kMost) frames.clear();
  return true;
}

bool send_frames(zmq::socket_t& socket, std::span<zmq::message_t> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool last = i + 1 == frames.size();
    // The queues of the socket are unlimited, so sending fails only if the peer has disconnected, and then for the
    // first frame.
    const auto flags = last ? zmq::send_flags::dontwait : zmq::send_flags::dontwait | zmq::send_flags::sndmore;
    try {
      if (!socket.send(frames[i], flags)) return false;
    } catch (const zmq::error_t& error) {
      if (error.num() == EHOSTUNREACH || error.num() == EAGAIN) return false;
      throw Error(Code::kIo, "cannot send: {}", error.what());
    }
  }
  return true;
}

// libzmq calls the lambda on its own thread when it has sent the bytes. The last reference to the buffer may be
// released there.
zmq::message_t frame_of(const Buffer& buffer) {
  auto* kept = new Buffer(buffer);
  return {buffer.data(), buffer.size(), [](void*, void* hint) { delete static_cast<Buffer*>(hint); }, kept};
}

// libzmq receives a large frame into separate memory, which is aligned. Small frames stay in the memory where they were
// received, one after another, at any address.
Buffer buffer_of(zmq::message_t&& frame) {
  constexpr std::size_t kAlignment = alignof(std::uint64_t);  // The strictest alignment of any element type.
  if (reinterpret_cast<std::uintptr_t>(frame.data()) % kAlignment != 0) {
    Buffer copy = Buffer::heap(frame.size());
    std::memcpy(copy.data(), frame.data(), frame.size());
    return copy;
  }
  auto kept = std::make_shared<zmq::message_t>(std::move(frame));
  auto* data = static_cast<std::byte*>(kept->data());
  const std::size_t size = kept->size();
  return {std::move(kept), data, size};
}

zmq::socket_t make_socket(zmq::context_t& context, zmq::socket_type type) {
  zmq::socket_t socket = open_socket(context, type);
  // In milliseconds. A process that ends has this long to send its last messages, and does not wait for ever for a peer
  // that does not read them.
  socket.set(zmq::sockopt::linger, 500);
  // libzmq's own limits are off, since it would silently drop messages or block. The edges limit the messages in
  // flight.
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 0);
  // The limit applies to one frame. It allows large tensors over TCP, but bounds the memory that a sender can make this
  // process allocate.
  socket.set(zmq::sockopt::maxmsgsize, std::int64_t{4} << 30);
  // Another host may disappear without closing the connection. Over TCP, this is detected after a minute.
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 30);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 10);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
  if (type == zmq::socket_type::router) {
    // "Mandatory" turns a message to a peer that has disconnected into an error instead of dropping it silently.
    // "Handover" lets a peer that connects again with the same identity replace its old connection.
    socket.set(zmq::sockopt::router_mandatory, true);
    socket.set(zmq::sockopt::router_handover, true);
  }
  return socket;
}

std::string bind_socket(zmq::socket_t& socket, const std::string& address) {
  if (socket.get(zmq::sockopt::mechanism) != ZMQ_CURVE) check_address(address);
  try {
    socket.set(zmq::sockopt::ipv6, address.starts_with("tcp://["));
    socket.bind(address);
  } catch (const zmq::error_t& error) {
    throw Error(Code::kIo, "cannot bind {}: {}", address, error.what());
  }
  // The address may contain a wildcard for the port; the actual port is known only after binding.
  return socket.get(zmq::sockopt::last_endpoint);
}

// Only the text of the address is checked: a host name that merely resolves to loopback is not allowed.
void check_address(const std::string& address) {
  for (const char* allowed : {"ipc://", "inproc://", "tcp://127.0.0.1:", "tcp://localhost:", "tcp://[::1]:"}) {
    if (address.starts_with(allowed)) return;
  }
  throw Error(Code::kUnsupported, "address {} is refused: without keys, only ipc and tcp on 127.0.0.1 are allowed",
              address);
}

}  // namespace trainyard::core
