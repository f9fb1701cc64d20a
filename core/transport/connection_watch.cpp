// SPDX-License-Identifier: Apache-2.0
#include "core/transport/connection_watch.h"

#include <utility>

#include "core/transport/socket_monitor.h"

namespace trainyard::core {

ConnectionWatch::ConnectionWatch(zmq::context_t& context, zmq::socket_t& socket, EventLoop& loop,
                                 std::chrono::milliseconds patience, Reports reports)
    : socket_(socket),
      loop_(loop),
      patience_(patience),
      reports_(std::move(reports)),
      events_(monitor_of(context, socket, ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED)) {
  loop_.add(*this);
}

ConnectionWatch::~ConnectionWatch() {
  if (renewal_) loop_.cancel(*renewal_);
  if (verdict_) loop_.cancel(*verdict_);
  loop_.remove(*this);
  end_monitor(socket_);
}

bool ConnectionWatch::poll() {
  bool worked = false;
  for (; const auto event = next_event(events_); worked = true) {
    if (event->number == ZMQ_EVENT_DISCONNECTED) on_lost();
    if (event->number == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) on_connected();
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
