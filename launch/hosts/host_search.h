// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "launch/hosts/host_link.h"
#include "launch/hosts/host_settings.h"
#include "launch/hosts/knock.h"
#include "launch/run/poll_loop.h"
#include "launch/run/run_console.h"

namespace trainyard::launch {

/// The search for host 0 by an agent, the process that acts for the launcher on another host. Host 0 listens at one of
/// the ports of the meeting place, the address at which the hosts of a run meet. The agent repeatedly sends a Join to
/// each of these ports until it is accepted at one of them.
class HostSearch {
 public:
  struct Reports {
    /// Called when host 0 has accepted this agent. `link` is the connection to it, which exists for as long as the
    /// HostSearch. `silence` is the time without messages after which host 0 counts as lost.
    std::function<void(HostLink& link, std::chrono::milliseconds silence)> accepted;
    /// Called when the search has failed: host 0 was not found in time, has refused this agent, or has reported that
    /// the run will not begin.
    std::function<void(const std::string& reason)> failed;
  };

  /// Begins the search on `loop`. All objects passed by reference must outlive this object.
  HostSearch(PollLoop& loop, RunConsole& console, zmq::context_t& context, const HostSettings& settings,
             Reports reports);
  ~HostSearch();
  HostSearch(const HostSearch&) = delete;
  HostSearch& operator=(const HostSearch&) = delete;

 private:
  struct Connection {
    std::unique_ptr<HostLink> link;
    PollLoop::Clock::time_point asked;  ///< When a Join was last sent over it.
  };

  void try_again();
  // Prints each reminder when it is due. Shortly before that, begins to find out what keeps this host from joining.
  void remind(PollLoop::Clock::time_point now);
  // Returns a text about what keeps this host from joining, for the user.
  std::string state();
  // Finds the address of host 0, and then opens the connections to it. Returns at once.
  void find_host_0();
  void connect(const std::string& address);
  void ask(PollLoop::Clock::time_point now);
  void on_answer(HostLink& link, const JoinAnswer& answer);

  PollLoop& loop_;
  RunConsole& console_;
  zmq::context_t& context_;
  const HostSettings& settings_;
  Reports reports_;
  std::optional<NameLookup> lookup_;           ///< Exists while the address of host 0 is being found.
  PollLoop::Clock::time_point resolve_again_;  ///< When the name of host 0 is to be resolved again.
  /// The reason why the search cannot begin, such as a name that cannot be resolved; empty if there is none.
  std::string problem_;
  bool heard_other_job_ = false;  ///< True if the launcher of another job has answered.
  /// Finds out why nobody answers. It exists from shortly before each reminder until the reminder has been printed.
  std::optional<Knock> knock_;
  Join join_;
  /// The connections, one for each port; empty until the name of host 0 has been resolved.
  std::vector<Connection> connections_;
  PollLoop::Clock::time_point deadline_;
  PollLoop::Clock::time_point remind_;
  PollLoop::Id timer_ = 0;
  bool done_ = false;
};

}  // namespace trainyard::launch
