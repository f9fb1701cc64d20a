// SPDX-License-Identifier: Apache-2.0
#include "core/transport/connection_watch.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/transport/frames.h"
#include "messages/error.h"

namespace trainyard::core {

ConnectionWatch::ConnectionWatch(zmq::context_t& context, zmq::socket_t& socket, EventLoop& loop,
                                 std::chrono::milliseconds patience, Reports reports)
    : socket_(socket),
      loop_(loop),
      patience_(patience),
      reports_(std::move(reports)),
      events_(make_socket(context, zmq::socket_type::pair)) {
  const std::string address = fmt::format("inproc://connection-{}", fmt::ptr(socket.handle()));
  constexpr int kEvents = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED;
  if (zmq_socket_monitor(socket.handle(), address.c_str(), kEvents) != 0) {
    throw Error(Code::kIo, "cannot watch a connection: {}", zmq_strerror(zmq_errno()));
  }
  events_.connect(address);
  loop_.add(*this);
}

ConnectionWatch::~ConnectionWatch() {
  if (renewal_) loop_.cancel(*renewal_);
  if (verdict_) loop_.cancel(*verdict_);
  loop_.remove(*this);
  zmq_socket_monitor(socket_.handle(), nullptr, 0);
}

// An event has two frames. The first contains its number (u16) and a value (u32); the second contains the address.
bool ConnectionWatch::poll() {
  bool worked = false;
  for (Frames frames; receive_frames(events_, frames); worked = true) {
    if (frames.size() != 2 || frames[0].size() != sizeof(std::uint16_t) + sizeof(std::uint32_t)) continue;
    std::uint16_t event = 0;
    std::memcpy(&event, frames[0].data(), sizeof event);
    if (event == ZMQ_EVENT_DISCONNECTED) on_lost();
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) on_connected();
  }
  return worked;
}

void ConnectionWatch::on_lost() {
  lost_ = true;
  reports_.lost();
  if (verdict_) return;
  verdict_ = loop_.after(patience_, [this] {
    verdict_.reset();
    reports_.late();
  });
}

// The report is made in a timer, which runs after the tasks that were posted to the loop. If the connection was lost
// because the publisher's process has died, and leads to its successor now, one of these tasks may destroy the watch.
void ConnectionWatch::on_connected() {
  if (!std::exchange(lost_, false) || renewal_) return;
  renewal_ = loop_.after(std::chrono::milliseconds(0), [this] {
    renewal_.reset();
    reports_.renewed();
  });
}

}  // namespace trainyard::core
