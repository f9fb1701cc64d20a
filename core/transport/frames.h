#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "messages/buffer.h"
#include "messages/message_type.h"

namespace trainyard {

/// The parts of one multipart message.
using Frames = std::vector<zmq::message_t>;

/// Takes one whole message off the socket without waiting; false if there is none. `frames` stays empty for one with
/// more frames than any message of ours has. It is reused, so a steady stream grows no vector.
bool receive_frames(zmq::socket_t& socket, Frames& frames);

/// Sends without waiting. False if the peer is gone or would not take it; nothing of the message is sent then.
bool send_frames(zmq::socket_t& socket, std::span<zmq::message_t> frames);

/// A frame with the message in its binary form.
/// For messages without tensors.
template <Message T>
zmq::message_t frame_with(const T& message) {
  std::string body;
  std::vector<Buffer> none;
  encode(message, body, none);
  return zmq::message_t(std::string_view(body));
}

/// Sends a control frame of a data socket: ["", kind, body], behind the peer's routing id if it is not empty. Further
/// messages follow in frames of their own.
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

/// The message in a frame; throws kCorrupt. For messages without tensors: there are no payloads to refer to.
template <Message T>
T read_message(const zmq::message_t& frame) {
  T message;
  decode(message, std::span(static_cast<const std::byte*>(frame.data()), frame.size()));
  return message;
}

/// A frame over the bytes of a buffer, which it keeps alive: libzmq sends from there.
zmq::message_t frame_of(const Buffer& buffer);

/// A buffer over the bytes of a received frame, which it keeps alive.
Buffer buffer_of(zmq::message_t&& frame);

/// A socket with the options that every socket of ours needs: bounded linger, unlimited queues (credits bound them), a
/// bounded message size.
zmq::socket_t make_socket(zmq::context_t& context, zmq::socket_type type);

/// Binds; throws kIo with the address and the reason. Returns the address to connect to.
std::string bind_socket(zmq::socket_t& socket, const std::string& address);

/// Refuses any address that is neither ipc nor tcp on loopback: beyond it keys are required and not yet supported.
void check_address(const std::string& address);

}  // namespace trainyard
