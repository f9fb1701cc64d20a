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

/// The processes of the run on an agent's host. The launcher on host 0 decides when they start and end; this class
/// carries that out, and reports to the launcher what they print and how they end.
class AgentProcesses {
 public:
  /// `link` must outlive this object.
  AgentProcesses(PollLoop& loop, const HostPart& part, CrewOptions options, HostLink& link);

  /// Carry out requests of the launcher. A request about an unknown process is ignored.
  void start(std::uint32_t index);
  void signal(std::uint32_t index, int signal);

  /// Reaps all child processes that have ended. Must be called on SIGCHLD.
  void reap();

 private:
  struct Entry {
    PlannedProcess planned;
    std::unique_ptr<ChildProcess> child;
  };

  HostLink& link_;
  CrewOptions options_;
  std::map<std::uint32_t, Entry> entries_;  ///< By index in the plan.
};

}  // namespace trainyard::launch
