// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "launch/run/poll_loop.h"
#include "launch/run/router_socket.h"
#include "messages/message_type.h"

namespace trainyard::launch {

/// The launcher's connection to the processes with components. A message is one of the types in messages/control.h and
/// messages/plan.h. It is sent as three frames: the name of the process, the name of the type, and the binary body. The
/// name of the process is its routing identity, so messages also reach a process that has been restarted.
class ControlChannel {
 public:
  /// Binds the address `endpoint`. Only processes that have the keys of the run can connect, unless `keys` is empty. If
  /// a message cannot be decoded, or if no handler is set for its type (on()), `on_broken` is called with the process
  /// that sent it and a description of the message (`what`).
  ControlChannel(zmq::context_t& context, PollLoop& loop, std::string endpoint, const core::RunKeys& keys,
                 std::function<void(const std::string& process, const std::string& what)> on_broken);
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  /// Returns the address that the processes of this host get as their argument --control.
  const std::string& endpoint() const { return endpoint_; }

  /// Binds a further address, for processes of other hosts that have `keys`. Returns the address to connect to. Throws
  /// kIo if the address cannot be bound.
  std::string listen_at(const std::string& endpoint, const core::RunKeys& keys) { return socket_.bind(endpoint, keys); }

  /// Sets the handler that is called with every message of type T. It replaces an earlier handler for this type.
  template <Message T>
  void on(std::function<void(const std::string& process, const T& message)> handler) {
    handlers_[T::kTypeName] = [handler = std::move(handler)](const std::string& process, const std::string& body) {
      T message;
      decode(message, std::as_bytes(std::span(body)));
      handler(process, message);
    };
  }

  /// Sets a callback that is called for every message of a known type, before the handler of this type. Even a message
  /// that cannot be decoded shows that the process that sent it is alive.
  void on_any(std::function<void(const std::string& process)> handler) { any_ = std::move(handler); }

  /// Sends a message to a process. Returns false if the process is not connected, or if it has too many unread
  /// messages.
  template <Message T>
  bool send(const std::string& process, const T& message) {
    std::string body;
    std::vector<Buffer> no_payloads;
    encode(message, body, no_payloads);
    return socket_.send({process, T::kTypeName, std::move(body)});
  }

 private:
  void receive();
  void dispatch(const RouterSocket::Frames& frames);

  PollLoop& loop_;
  std::string endpoint_;
  RouterSocket socket_;
  PollLoop::Id watch_;
  std::function<void(const std::string&, const std::string&)> on_broken_;
  std::function<void(const std::string&)> any_;
  std::map<std::string, std::function<void(const std::string&, const std::string&)>> handlers_;
};

}  // namespace trainyard::launch
