// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/transport/admission.h"
#include "launch/hosts/host_settings.h"
#include "launch/hosts/message_table.h"
#include "launch/plan/plan.h"
#include "launch/run/poll_loop.h"
#include "launch/run/router_socket.h"
#include "launch/run/run_console.h"

namespace trainyard::launch {

/// The socket of host 0 to which the agents (the processes that act for the launcher on the other hosts) connect.
/// Connections are encrypted (CURVE), and only an agent that has the key of the hosts can connect. An agent whose
/// launch differs from that of host 0 is refused, and learns the reason.
///
/// gather() waits until all hosts have joined. Afterwards, the door carries messages between the launcher and the
/// agents, on the launcher's poll loop.
class HostDoor {
 public:
  /// Listens at the first free port of the meeting place (HostSettings::meeting). `plan` and `settings` must outlive
  /// this object. Throws kIo if no port is free, or kUnsupported if this process may not open enough file descriptors
  /// for connections to all hosts.
  HostDoor(const Plan& plan, const HostSettings& settings);
  ~HostDoor();
  HostDoor(const HostDoor&) = delete;
  HostDoor& operator=(const HostDoor&) = delete;

  /// Waits until every other host has joined. At intervals, prints which hosts are missing. Throws kTimeout, with the
  /// names of the hosts that have not joined in time, or kPeerLost, with the name of a host that joined and was then
  /// lost. In both cases, the hosts that have joined receive the reason.
  void gather(RunConsole& console);

  /// Returns the number of hosts, including host 0.
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(joined_.size()); }
  /// Returns the Join that a host sent. `host` must not be 0, and all hosts must have joined.
  const Join& joined(std::uint32_t host) const { return joined_.at(host)->join; }
  const HostSettings& settings() const { return settings_; }
  /// Prints how many connections have been refused, if their number has grown since the last call. gather() calls this
  /// function by itself; afterwards, call it once a second.
  void say_refusals(RunConsole& console);
  /// Returns how many connections have been refused because the other side did not have the key of the hosts or used
  /// another protocol.
  std::uint64_t refusals() { return socket_->refusals(); }
  /// Returns an address of this machine that the other hosts can reach: the one to which they have connected or, if
  /// that address does not belong to this machine (it may be that of a Kubernetes service), the address from which
  /// packets to host 1 are sent. All hosts must have joined.
  std::string own_address() const;

  /// The handlers for messages from agents. Their first argument is the number of the host.
  MessageTable<std::uint32_t>& messages() { return messages_; }
  /// Tells all agents that the run has ended, with its exit code and a text for the user (`reason`, which may be
  /// empty), and waits for a few seconds at most until they have disconnected. If a door is destroyed without this
  /// call, it tells the agents that the run will not begin.
  void end_all(int exit_code, const std::string& reason);

  /// Polls the sockets on `loop` from now on, so that the handlers in messages() are called. Call this function after
  /// gather(), which uses a loop of its own. `loop` must outlive this object.
  void serve(PollLoop& loop);
  void stop_serving();

  /// Sends a message to the agent of a host. Returns false if the agent is not connected.
  template <Message T>
  bool send(std::uint32_t host, const T& message) {
    return joined_.at(host) && socket_->send({joined_[host]->peer, T::kTypeName, body_of_message(message)});
  }

 private:
  /// An agent that has joined.
  struct Joined {
    std::string peer;  ///< The routing id of the agent.
    Join join;
  };

  void receive();
  void on_join(const std::string& peer, const Join& join);
  void say_joined(const Join& join) const;
  // Handles a message that cannot be decoded or is not allowed. Throws kCorrupt if it is from a host that has joined.
  void handle_broken(const std::string& peer, const std::string& type, const std::string& reason);
  // Returns the host with this routing id, or joined_.end().
  std::vector<std::optional<Joined>>::const_iterator host_of(const std::string& peer) const;
  // Answers a Join that cannot be decoded.
  void refuse_unreadable(const std::string& peer);
  // Returns why the agent cannot be accepted; empty if it can.
  std::string object_to(const std::string& peer, const Join& join);
  std::vector<std::string> missing() const;

  const Plan& plan_;
  const HostSettings& settings_;
  zmq::context_t sockets_;
  core::Admission admission_;
  std::unique_ptr<RouterSocket> socket_;
  RunConsole* console_ = nullptr;              ///< Where gather() prints; null at any other time.
  std::vector<std::optional<Joined>> joined_;  ///< Indexed by host. The entry of host 0 is always empty.
  MessageTable<std::uint32_t> messages_;
  PollLoop* loop_ = nullptr;
  std::vector<PollLoop::Id> watches_;
  std::uint64_t said_refusals_ = 0;
  bool ended_ = false;
};

}  // namespace trainyard::launch
