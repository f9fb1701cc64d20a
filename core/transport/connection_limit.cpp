// SPDX-License-Identifier: Apache-2.0
#include "core/transport/connection_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "core/transport/frames.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

constexpr int kRefusals =
    ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

}  // namespace

ConnectionLimit::ConnectionLimit(zmq::context_t& context, zmq::socket_t& socket, std::size_t most)
    : socket_(socket), most_(most), events_(make_socket(context, zmq::socket_type::pair)) {
  const std::string address = fmt::format("inproc://connections-{}", fmt::ptr(socket.handle()));
  if (zmq_socket_monitor(socket.handle(), address.c_str(),
                         ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | kRefusals) != 0) {
    throw Error(Code::kIo, "cannot watch the connections of a socket: {}", zmq_strerror(zmq_errno()));
  }
  events_.connect(address);
}

ConnectionLimit::~ConnectionLimit() { zmq_socket_monitor(socket_.handle(), nullptr, 0); }

const std::string& ConnectionLimit::bind(const std::string& address) {
  endpoint_ = bind_socket(socket_, address);
  listening_ = true;
  return endpoint_;
}

// An event has two frames. The first contains its number (u16) and a value (u32), the descriptor of the connection; the
// second contains the address.
bool ConnectionLimit::poll() {
  Frames frames;
  if (!receive_frames(events_, frames)) return false;
  bool closed = false;
  do {
    if (frames.size() != 2 || frames[0].size() != sizeof(std::uint16_t) + sizeof(std::uint32_t)) continue;
    std::uint16_t event = 0;
    std::int32_t descriptor = 0;
    std::memcpy(&event, frames[0].data(), sizeof event);
    std::memcpy(&descriptor, static_cast<const std::byte*>(frames[0].data()) + sizeof event, sizeof descriptor);
    if ((event & kRefusals) != 0) ++refused_;
    if (event == ZMQ_EVENT_ACCEPTED) connections_.insert(descriptor);
    if (event == ZMQ_EVENT_DISCONNECTED) connections_.erase(descriptor);
    // The listening socket and all its connections are closed now, and its address is free again.
    if (event == ZMQ_EVENT_CLOSED) connections_.clear();
    closed |= event == ZMQ_EVENT_CLOSED;
  } while (receive_frames(events_, frames));
  listen_or_not(closed);
  return true;
}

void ConnectionLimit::listen_or_not(bool closed) {
  try {
    if (listening_ && connections_.size() >= most_) {
      socket_.unbind(endpoint_);
      listening_ = false;
    } else if (!listening_ && closed) {
      socket_.bind(endpoint_);
      listening_ = true;
    }
  } catch (const zmq::error_t&) {
    // The next event causes another attempt.
  }
}

std::size_t raise_descriptor_limit() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace trainyard::core
