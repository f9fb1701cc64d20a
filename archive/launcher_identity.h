// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace trainyard::archive {

/// What distinguishes the launcher of a run from every other process, on all hosts and at all times.
struct LauncherIdentity {
  std::string host;               ///< The name of its host.
  std::string boot;               ///< The id of the host's boot; no process outlives it.
  pid_t pid = 0;                  ///< Its pid on that host.
  std::uint64_t start_ticks = 0;  ///< When it started, in clock ticks since boot, because pids are reused.
};

/// Returns the identity of the calling process.
LauncherIdentity this_process();

/// What is known of a launcher.
enum class Launcher {
  kAlive,
  kDead,
  kElsewhere,  ///< It was started on another host, so nothing is known.
};

/// Looks for the launcher among the processes of this host.
Launcher find_launcher(const LauncherIdentity& launcher);

}  // namespace trainyard::archive
