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

/// The launcher's connection to its processes. It carries the messages of messages/control.h and messages/plan.h as
/// frames [process][type name][binary body]. The process's name is its routing identity, so messages reach a restarted
/// process, too.
class ControlChannel {
 public:
  /// Only those who have the keys of the run can connect, unless the keys are empty. `on_broken` is called for messages
  /// that cannot be read, with the process that sent the message and the reason.
  ControlChannel(zmq::context_t& context, PollLoop& loop, std::string endpoint, const core::RunKeys& keys,
                 std::function<void(const std::string& process, const std::string& what)> on_broken);
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  /// Returns the address that a process receives as --control.
  const std::string& endpoint() const { return endpoint_; }

  /// Calls `handler` with every message of type T. There is one handler per type.
  template <Message T>
  void on(std::function<void(const std::string& process, const T& message)> handler) {
    handlers_[T::kTypeName] = [handler = std::move(handler)](const std::string& process, const std::string& body) {
      T message;
      decode(message, std::as_bytes(std::span(body)));
      handler(process, message);
    };
  }

  /// Sets a callback that runs before the handler of every message, since any message shows that its process is alive.
  void on_any(std::function<void(const std::string& process)> handler) { any_ = std::move(handler); }

  /// Sends a message to a process. Returns false if the process is not connected.
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
