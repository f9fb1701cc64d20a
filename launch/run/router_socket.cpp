// SPDX-License-Identifier: Apache-2.0
#include "launch/run/router_socket.h"

#include <limits>

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::launch {
namespace {

/// Control messages are small and rare; a peer with this many unread messages is not reading.
constexpr int kMostWaitingMessages = 10'000;
constexpr int kLingerMilliseconds = 200;
/// The processes or agents of many hosts can connect at the same moment. With libzmq's own number, 100, the kernel
/// drops the packets of the others, which try again after a second.
constexpr int kMostPending = 4096;

}  // namespace

// A function try block, so that a failure of the member's constructor is converted, too.
RouterSocket::RouterSocket(zmq::context_t& context, const std::string& endpoint, const core::RunKeys& keys,
                           Refusals refusals) try
    : socket_(context, zmq::socket_type::router) {
  socket_.set(zmq::sockopt::router_mandatory, true);  // Otherwise a message to an unknown peer is dropped silently.
  socket_.set(zmq::sockopt::router_handover, true);   // A respawned process takes its name over from the dead one.
  socket_.set(zmq::sockopt::linger, kLingerMilliseconds);
  socket_.set(zmq::sockopt::backlog, kMostPending);
  socket_.set(zmq::sockopt::sndhwm, kMostWaitingMessages);
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxBodyBytes));
  core::check_member_address(endpoint, keys);
  core::accept_members(context, socket_, keys);
  if (refusals == Refusals::kCounted) {
    // Only counted: if all connections were closed at a limit, as for visitors, the members would be lost.
    connections_ = std::make_unique<core::ConnectionLimit>(context, socket_, std::numeric_limits<std::size_t>::max());
  }
  socket_.set(zmq::sockopt::ipv6, endpoint.starts_with("tcp://["));
  socket_.bind(endpoint);
} catch (const zmq::error_t& error) {
  throw Error(Code::kIo, "cannot bind {}: {}", endpoint, error.what());
}

std::string RouterSocket::bind(const std::string& endpoint, const core::RunKeys& keys) {
  core::check_member_address(endpoint, keys);
  try {
    socket_.set(zmq::sockopt::ipv6, endpoint.starts_with("tcp://["));
    socket_.bind(endpoint);
  } catch (const zmq::error_t& error) {
    throw Error(Code::kIo, "cannot bind {}: {}", endpoint, error.what());
  }
  return socket_.get(zmq::sockopt::last_endpoint);
}

std::uint64_t RouterSocket::refusals() {
  if (connections_ == nullptr) return 0;
  while (connections_->poll()) {
  }
  return connections_->refused();
}

bool RouterSocket::send(const Frames& frames) {
  try {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      // If the message is refused, then at the first frame, which names the peer.
      if (!socket_.send(zmq::buffer(frames[i]), more | zmq::send_flags::dontwait)) return false;
    }
    return true;
  } catch (const zmq::error_t& error) {
    if (error.num() == EHOSTUNREACH) return false;
    throw Error(Code::kIo, "cannot send to '{}': {}", frames.front(), error.what());
  }
}

// libzmq delivers messages as a whole: if the first frame is available, so are the others.
std::optional<RouterSocket::Frames> RouterSocket::receive() {
  Frames frames;
  zmq::message_t part;
  do {
    if (!socket_.recv(part, zmq::recv_flags::dontwait)) return std::nullopt;
    frames.push_back(part.to_string());
  } while (part.more());
  return frames;
}

}  // namespace trainyard::launch
