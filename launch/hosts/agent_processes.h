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

  /// These two functions carry out requests of the launcher. `index` is the index of the process in the plan. A request
  /// for a process that does not exist is ignored.
  void start(std::uint32_t index);
  void signal(std::uint32_t index, int signal);

  /// Collects the exit status of every child process that has ended. Must be called after SIGCHLD.
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
