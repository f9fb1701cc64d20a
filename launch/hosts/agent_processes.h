// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "launch/hosts/host_link.h"
#include "launch/hosts/messages.h"
#include "launch/plan/plan.h"
#include "launch/run/child_process.h"
#include "launch/run/crew.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// The processes of the run on the host of an agent, which acts for the launcher there. The launcher on host 0 decides
/// when they start and end. This class carries out its requests, and reports to the launcher what the processes print
/// and how they end.
class AgentProcesses {
 public:
  /// `link` must outlive this object.
  AgentProcesses(PollLoop& loop, const HostPart& part, CrewOptions options, HostLink& link);

  /// These two functions carry out requests of the launcher. `index` is the index of the process in the plan. signal()
  /// sends the signal to the whole process group. A request is ignored if this host has no such process, if the process
  /// to start is already running, or if the process to signal is not running.
  void start(std::uint32_t index);
  void signal(std::uint32_t index, int signal);

  /// Collects the status of every child process that has ended, or that a signal has stopped or continued, and reports
  /// it to the launcher. Must be called after SIGCHLD.
  void reap();

 private:
  struct Entry {
    PlannedProcess planned;
    std::unique_ptr<ChildProcess> child;
  };

  HostLink& link_;
  CrewOptions options_;
  std::map<std::uint32_t, Entry> entries_;  ///< The processes, by their index in the plan.
};

}  // namespace trainyard::launch
