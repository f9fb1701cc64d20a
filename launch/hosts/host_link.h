// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <zmq.hpp>

#include "core/transport/run_keys.h"
#include "launch/hosts/message_table.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// An agent's connection to host 0. An agent is the process that acts for the launcher on another host.
class HostLink {
 public:
  /// Begins to connect to `endpoint`. Nobody needs to listen there yet. `key` is the key that all hosts of the run
  /// share.
  HostLink(zmq::context_t& context, PollLoop& loop, std::string endpoint, const core::RunKeys& key);
  ~HostLink();
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  const std::string& endpoint() const { return endpoint_; }

  /// The handlers for messages from host 0.
  MessageTable<>& messages() { return messages_; }

  /// Returns the time at which the last message from host 0 arrived; before the first, the time of construction.
  PollLoop::Clock::time_point heard() const { return heard_; }

  /// Sends a message. Returns false if the agent is not connected.
  template <Message T>
  bool send(const T& message) {
    return send(T::kTypeName, body_of_message(message));
  }

 private:
  bool send(const std::string& type, const std::string& body);
  void receive();

  PollLoop& loop_;
  std::string endpoint_;
  zmq::socket_t socket_;
  PollLoop::Id watch_;
  PollLoop::Clock::time_point heard_;
  MessageTable<> messages_;
};

}  // namespace trainyard::launch
