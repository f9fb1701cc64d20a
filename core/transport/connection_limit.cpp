// SPDX-License-Identifier: Apache-2.0
#include "core/transport/connection_limit.h"

#include <sys/resource.h>

#include <algorithm>

#include "core/transport/frames.h"
#include "core/transport/socket_monitor.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

constexpr int kRefusals =
    ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

}  // namespace

ConnectionLimit::ConnectionLimit(zmq::context_t& context, zmq::socket_t& socket, std::size_t most)
    : socket_(socket),
      most_(most),
      events_(monitor_of(context, socket, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | kRefusals)) {
}

ConnectionLimit::~ConnectionLimit() { end_monitor(socket_); }

const std::string& ConnectionLimit::bind(const std::string& address) {
  endpoint_ = bind_socket(socket_, address);
  listening_ = true;
  return endpoint_;
}

bool ConnectionLimit::poll() {
  bool any = false, closed = false;
  for (; const auto event = next_event(events_); any = true) {
    if ((event->number & kRefusals) != 0) ++refused_;
    if (event->number == ZMQ_EVENT_ACCEPTED) connections_.insert(event->value);
    if (event->number == ZMQ_EVENT_DISCONNECTED) connections_.erase(event->value);
    // The listening socket and all its connections are closed now, and its address is free again.
    if (event->number == ZMQ_EVENT_CLOSED) connections_.clear();
    closed |= event->number == ZMQ_EVENT_CLOSED;
  }
  if (any) listen_or_not(closed);
  return any;
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
