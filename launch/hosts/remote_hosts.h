// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "launch/hosts/host_door.h"
#include "launch/hosts/notes_folder.h"
#include "launch/hosts/tunnels.h"
#include "launch/run/remote_processes.h"
#include "launch/run/run_context.h"

namespace trainyard::launch {

/// The launcher's connection to the other hosts during the run. It passes the launcher's requests on to the agents, the
/// processes that act for the launcher on these hosts. It reports what happens to the processes there to the class
/// Crew, which manages all processes of the run. So the rest of the launcher need not know on which host a process
/// runs.
class RemoteHosts {
 public:
  /// Callbacks for events that concern the run as a whole.
  struct Reports {
    /// Called when a host is lost. The callback must mark the processes of the host as ended, because no report about
    /// them will arrive. `reason` is a sentence for the user.
    std::function<void(std::uint32_t host, const std::string& reason)> lost;
    /// Called when an agent has received a signal that asks the run to stop.
    std::function<void(int signal)> interrupted;
  };

  /// `door` and `run` must outlive this object. All hosts must have joined.
  RemoteHosts(HostDoor& door, RunContext& run, Reports reports);
  ~RemoteHosts();
  RemoteHosts(const RemoteHosts&) = delete;
  RemoteHosts& operator=(const RemoteHosts&) = delete;

  /// Sends every agent its part of the run. Must be called before the first process starts.
  void begin();

 private:
  /// The processes on one of the other hosts.
  class Processes final : public RemoteProcesses {
   public:
    Processes(RemoteHosts& hosts, std::uint32_t host) : hosts_(hosts), host_(host) {}

    void start(std::uint32_t index) override { hosts_.door_.send(host_, StartProcess{index}); }
    void signal(std::uint32_t index, int signal) override { hosts_.door_.send(host_, SignalProcess{index, signal}); }

   private:
    RemoteHosts& hosts_;
    std::uint32_t host_;
  };

  // Sets a handler for the messages of all hosts that are not lost. Whatever a host sends shows that it is alive.
  template <Message T, class Handler>
  void on(Handler handler) {
    door_.messages().on<T>([this, handler](std::uint32_t host, const T& message) {
      heard_[host] = run_.loop.now();
      if (!gone_.contains(host)) handler(host, message);
    });
  }

  void listen();
  void set_places();
  HostPart part_of(std::uint32_t host, const std::string& control) const;
  // Returns the process about which an agent has sent a report. Throws kCorrupt if the process does not belong to the
  // agent's host.
  ChildProcess& process(std::uint32_t host, std::uint32_t index) const;
  void on_changed(std::uint32_t host, const ProcessChanged& change);
  void spread(const HostNote& note, std::uint32_t from);
  std::vector<Entrance> entrances_of(std::uint32_t host) const;
  // Passes a part of a tunnel on to the host that it is for. Returns false if this host is lost.
  bool route(TunnelPart part);
  // Tells the user if visitors were refused.
  void say_refused();
  void beat();
  void lose(std::uint32_t host, const std::string& reason);
  std::string describe(std::uint32_t host) const;

  HostDoor& door_;
  RunContext& run_;
  Reports reports_;
  std::vector<std::unique_ptr<Processes>> processes_;  ///< The processes of each host, by its number; null for host 0.
  std::vector<PollLoop::Clock::time_point> heard_;     ///< When each host last sent a message.
  std::set<std::uint32_t> gone_;                       ///< The numbers of the hosts that are lost.
  NotesFolder notes_;
  Tunnels tunnels_;
  std::uint64_t said_refused_ = 0;  ///< The number of refused connections that the user was last told.
  PollLoop::Id timer_ = 0;
};

}  // namespace trainyard::launch
