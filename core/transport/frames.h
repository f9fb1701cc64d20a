// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "messages/buffer.h"
#include "messages/message_type.h"

namespace trainyard::core {

/// The parts of one multipart message.
using Frames = std::vector<zmq::message_t>;

/// Receives one whole message without waiting. Returns false if there is no message. If the message has more frames
/// than any message of Trainyard can have, returns true and leaves `frames` empty. If the caller reuses the vector, a
/// steady stream of messages causes no further allocations.
bool receive_frames(zmq::socket_t& socket, Frames& frames);

/// Sends a message without waiting. Returns false if the peer has disconnected or does not accept the message; in that
/// case no part of it was sent.
bool send_frames(zmq::socket_t& socket, std::span<zmq::message_t> frames);

/// Returns a frame with the message in its binary form. The message must not have tensors.
template <Message T>
zmq::message_t frame_with(const T& message) {
  std::string body;
  std::vector<Buffer> none;
  encode(message, body, none);
  return zmq::message_t(std::string_view(body));
}

/// Sends a control message, such as Subscribe, on a socket that also carries data. The frames are an empty frame, the
/// name of the message type and the body. They are preceded by `peer`, the peer's routing id, unless this is empty.
/// Each message in `more` is added as a further frame. Returns false in the same cases as send_frames().
template <Message T, Message... More>
bool send_control(zmq::socket_t& socket, std::string_view peer, const T& message, const More&... more) {
  Frames frames;
  if (!peer.empty()) frames.emplace_back(peer);
  frames.emplace_back();
  frames.emplace_back(std::string_view(T::kTypeName));
  frames.push_back(frame_with(message));
  (frames.push_back(frame_with(more)), ...);
  return send_frames(socket, frames);
}

/// Reads the message in a frame. The message must not have tensors, because there are no payloads. Throws kCorrupt if
/// the bytes do not follow the format.
template <Message T>
T read_message(const zmq::message_t& frame) {
  T message;
  decode(message, std::span(static_cast<const std::byte*>(frame.data()), frame.size()));
  return message;
}

/// Returns a frame that refers to the bytes of a buffer and keeps them alive. libzmq sends the bytes without copying
/// them.
zmq::message_t frame_of(const Buffer& buffer);

/// Returns a buffer with the bytes of a received frame, at an address that is aligned for every type of element. The
/// buffer keeps the frame alive instead of copying it. Only a frame whose bytes are not aligned is copied; such frames
/// are small.
Buffer buffer_of(zmq::message_t&& frame);

/// Returns a socket with the options that all sockets of Trainyard need: when it is closed, it sends remaining messages
/// for a limited time only; its queues are unlimited, because the edges (connections between components) limit the
/// messages in flight; the size of a message is limited; and a TCP connection to a host that has disappeared is closed.
/// Throws kIo if the context or the process has no room for another socket.
zmq::socket_t make_socket(zmq::context_t& context, zmq::socket_type type);

/// Binds the socket and returns the address to connect to. Only a socket that checks keys (CURVE) may be bound to an
/// address that other hosts can reach; for any other socket, the function calls check_address() and passes on its
/// error. Throws kIo if the address cannot be bound.
std::string bind_socket(zmq::socket_t& socket, const std::string& address);

/// Checks an address that is to be used without keys. Throws kUnsupported if other hosts could reach it: only ipc,
/// inproc, and tcp on loopback are allowed.
void check_address(const std::string& address);

}  // namespace trainyard::core
