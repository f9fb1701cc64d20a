// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainyard::launch {

/// The processes of the run on another host, which an agent starts and ends there on behalf of the launcher. The
/// agent's reports about them are passed to the class Crew.
class RemoteProcesses {
 public:
  virtual ~RemoteProcesses() = default;

  /// Asks the agent to start the process with this index in the plan.
  virtual void start(std::uint32_t index) = 0;

  /// Asks the agent to send a signal to the process and its group.
  virtual void signal(std::uint32_t index, int signal) = 0;
};

}  // namespace trainyard::launch
