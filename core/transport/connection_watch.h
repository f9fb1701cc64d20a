// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <zmq.hpp>

#include "core/loop/event_loop.h"

namespace trainyard::core {

/// Detects that a socket that connects to a publisher has lost its connection, and that libzmq has made it again. The
/// publisher has then discarded the subscriptions of the old connection, so the owner of the socket must react.
///
/// The watch adds itself to the event loop, and removes itself when it is destroyed. It is made, used and destroyed on
/// the thread of this loop.
class ConnectionWatch final : public Source {
 public:
  /// The functions that the watch calls on its loop. They may not destroy the watch.
  struct Reports {
    std::function<void()> lost;     ///< Called when the connection has been lost.
    std::function<void()> renewed;  ///< Called when there is a connection again after a loss.
    std::function<void()> late;     ///< Called once, when the given time has passed since a loss.
  };

  /// Watches `socket`, which must outlive this object, and which no other object may watch. `patience` is the time
  /// after which Reports::late is called. Throws kIo if the socket cannot be watched.
  ConnectionWatch(zmq::context_t& context, zmq::socket_t& socket, EventLoop& loop, std::chrono::milliseconds patience,
                  Reports reports);
  ~ConnectionWatch() override;
  ConnectionWatch(const ConnectionWatch&) = delete;
  ConnectionWatch& operator=(const ConnectionWatch&) = delete;

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(events_).handle(); }

 private:
  void on_lost();
  void on_connected();

  zmq::socket_t& socket_;
  EventLoop& loop_;
  std::chrono::milliseconds patience_;
  Reports reports_;
  zmq::socket_t events_;
  bool lost_ = false;  ///< True from the loss of a connection until there is one again.
  std::optional<EventLoop::TimerId> renewal_;
  std::optional<EventLoop::TimerId> verdict_;
};

}  // namespace trainyard::core
