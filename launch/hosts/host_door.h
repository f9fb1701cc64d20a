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

/// The socket of host 0 at which the agents of the other hosts arrive. Connections are encrypted, and only whoever has
/// the key of the hosts can make one (CURVE). An agent whose launch differs from that of host 0 is refused with the
/// reason.
///
/// gather() waits until all hosts are there. Afterwards the door carries the messages between the launcher and the
/// agents, on the launcher's poll loop.
class HostDoor {
 public:
  /// Listens at the first port of the meeting place that is free. `plan` and `settings` must outlive this object.
  /// Throws kIo if no port is free.
  HostDoor(const Plan& plan, const HostSettings& settings);
  ~HostDoor();
  HostDoor(const HostDoor&) = delete;
  HostDoor& operator=(const HostDoor&) = delete;

  /// Waits until every other host has joined, and from time to time prints which are missing. Throws kTimeout, naming
  /// the hosts that did not join, and kPeerLost, naming a host that has joined and is gone. In both cases, the hosts
  /// that have joined learn the reason.
  void gather(RunConsole& console);

  /// Returns the number of hosts, with host 0.
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(joined_.size()); }
  /// Returns what a host has said when it joined. `host` must not be 0, and all hosts must have joined.
  const Join& joined(std::uint32_t host) const { return joined_.at(host)->join; }
  const HostSettings& settings() const { return settings_; }
  /// Returns the address of host 0 that the other hosts have reached.
  std::string own_address() const;

  /// The handlers of the agents' messages; their first argument is the number of the host.
  MessageTable<std::uint32_t>& messages() { return messages_; }
  /// Tells all agents that the run has ended, and waits a few seconds at most until they have left. A door that is
  /// destroyed without this call says that it did not begin.
  void end_all(int exit_code, const std::string& reason);

  /// Begins to serve the sockets on `loop`, which must outlive this object.
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
    std::string peer;  ///< Its routing id.
    Join join;
  };

  void receive();
  void on_join(const std::string& peer, const Join& join);
  void say_joined(const Join& join) const;
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
  RunConsole* console_ = nullptr;              ///< Set while gather() runs.
  std::vector<std::optional<Joined>> joined_;  ///< Indexed by host; that of host 0 stays empty.
  MessageTable<std::uint32_t> messages_;
  PollLoop* loop_ = nullptr;
  std::vector<PollLoop::Id> watches_;
  bool ended_ = false;
};

}  // namespace trainyard::launch
