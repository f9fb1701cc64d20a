// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainyard::launch {

/// Processes of the run that live on another host, where an agent owns them. What happens to them is reported to the
/// Crew later.
class RemoteProcesses {
 public:
  virtual ~RemoteProcesses() = default;

  /// Asks the agent to start the process with this index in the plan.
  virtual void start(std::uint32_t index) = 0;

  /// Asks the agent to send a signal to the process and its group.
  virtual void signal(std::uint32_t index, int signal) = 0;
};

}  // namespace trainyard::launch
