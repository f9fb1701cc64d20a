// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace trainyard::archive {

/// Identifies the launcher of a run uniquely among the processes of all hosts at all times.
struct LauncherIdentity {
  std::string host;               ///< The name of its host.
  std::string boot;               ///< The id of the host's current boot. A process cannot outlive it.
  pid_t pid = 0;                  ///< Its pid on that host.
  std::uint64_t start_ticks = 0;  ///< When it started, in clock ticks since boot, because pids are reused.
};

/// Returns the identity of the calling process.
LauncherIdentity this_process();

/// What can be found out about a launcher.
enum class Launcher {
  kAlive,
  kDead,
  kElsewhere,  ///< It was started on another host, so nothing is known about it.
};

/// Looks for the launcher among the processes of this host.
Launcher find_launcher(const LauncherIdentity& launcher);

}  // namespace trainyard::archive
