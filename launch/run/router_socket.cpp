// SPDX-License-Identifier: Apache-2.0
#include "launch/run/router_socket.h"

#include <limits>

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::launch {
namespace {

/// The largest number of unread messages of a peer. Control messages are rare, so a peer with more unread messages has
/// stopped reading.
constexpr int kMostWaitingMessages = 10'000;
constexpr int kLingerMilliseconds = 200;
/// The backlog of the listening socket. Processes and agents of many hosts can connect at the same moment. With
/// libzmq's default, 100, the kernel would drop the packets of further connections, which are repeated only after a
/// second.
constexpr int kMostPending = 4096;

}  // namespace

// The function try block also converts exceptions of the constructors of members.
RouterSocket::RouterSocket(zmq::context_t& context, const std::string& endpoint, const core::RunKeys& keys,
                           Exposure exposure) try
    : socket_(context, zmq::socket_type::router) {
  // Without this option, a message to an unknown peer is dropped silently.
  socket_.set(zmq::sockopt::router_mandatory, true);
  socket_.set(zmq::sockopt::router_handover, true);  // A restarted process can use the name of the old process.
  socket_.set(zmq::sockopt::linger, kLingerMilliseconds);
  socket_.set(zmq::sockopt::backlog, kMostPending);
  socket_.set(zmq::sockopt::sndhwm, kMostWaitingMessages);
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxBodyBytes));
  core::check_member_address(endpoint, keys);
  core::accept_members(context, socket_, keys);
  if (exposure == Exposure::kPublic) {
    // The filter refuses single connections, so this object only counts.
    connections_ = std::make_unique<core::ConnectionLimit>(context, socket_, std::numeric_limits<std::size_t>::max());
    filter_ = std::make_unique<core::StrangerFilter>(
        socket_, endpoint,
        core::StrangerFilter::Limits{.strangers = core::StrangerFilter::most_strangers(),
                                     .admitted = core::StrangerFilter::most_admitted()});
    return;
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
  return connections_->refused() + filter_->refused();
}

bool RouterSocket::send(const Frames& frames) {
  try {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      // libzmq can refuse a message only at its first frame, which contains the identity of the peer.
      if (!socket_.send(zmq::buffer(frames[i]), more | zmq::send_flags::dontwait)) return false;
    }
    return true;
  } catch (const zmq::error_t& error) {
    if (error.num() == EHOSTUNREACH) return false;
    throw Error(Code::kIo, "cannot send to '{}': {}", frames.front(), error.what());
  }
}

// libzmq delivers only complete messages. If the first frame is available, the others are, too.
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
