// SPDX-License-Identifier: Apache-2.0
#include "core/transport/frames.h"

#include <cstdint>
#include <cstring>
#include <memory>

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::core {

bool receive_frames(zmq::socket_t& socket, Frames& frames) {
  constexpr std::size_t kMost = kMaxPayloads + 8;
  frames.clear();
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    zmq::message_t frame;
    // Only the first frame can be missing, because libzmq delivers messages whole.
    if (!socket.recv(frame, zmq::recv_flags::dontwait)) return false;
    more = frame.more();
    // A longer message is not one of ours, but it is read to its end, where the next one begins.
    if (count < kMost) frames.push_back(std::move(frame));
  }
  if (count > kMost) frames.clear();
  return true;
}

bool send_frames(zmq::socket_t& socket, std::span<zmq::message_t> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool last = i + 1 == frames.size();
    // Our queues are unbounded, so only a peer that is gone can refuse, and then it refuses the first frame.
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

// libzmq calls the function on its own thread when it has sent the bytes. The last reference may be dropped there.
zmq::message_t frame_of(const Buffer& buffer) {
  auto* kept = new Buffer(buffer);
  return {buffer.data(), buffer.size(), [](void*, void* hint) { delete static_cast<Buffer*>(hint); }, kept};
}

// libzmq puts a large frame into memory of its own, which is aligned. Small frames of a stream lie one after another
// where they were received.
Buffer buffer_of(zmq::message_t&& frame) {
  constexpr std::size_t kAlignment = alignof(std::uint64_t);  // No type of element needs more.
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
  zmq::socket_t socket(context, type);
  // In milliseconds: a process that ends may still send its last messages, and never hangs on a peer that does not read
  // them.
  socket.set(zmq::sockopt::linger, 500);
  // libzmq sets no limit here, since it would drop or block silently. The credits of the edges are the limit.
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 0);
  // The limit applies to one frame. A tensor over tcp may be large, but nobody can make us allocate memory without end.
  socket.set(zmq::sockopt::maxmsgsize, std::int64_t{4} << 30);
  if (type == zmq::socket_type::router) {
    // Mandatory makes a message to a peer that is gone an error instead of silence. Handover lets a peer that connects
    // again with its old identity take the place of the dead connection.
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
  // With a wildcard port, the address is known only now.
  return socket.get(zmq::sockopt::last_endpoint);
}

// Addresses are compared by prefix: a host name that merely resolves to loopback is not trusted.
void check_address(const std::string& address) {
  for (const char* allowed : {"ipc://", "inproc://", "tcp://127.0.0.1:", "tcp://localhost:", "tcp://[::1]:"}) {
    if (address.starts_with(allowed)) return;
  }
  throw Error(Code::kUnsupported, "address {} is refused: without keys, only ipc and tcp on 127.0.0.1 are allowed",
              address);
}

}  // namespace trainyard::core
