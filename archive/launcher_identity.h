// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace trainyard::archive {

/// Identifies the launcher of a run uniquely, even among the processes of other hosts and of earlier boots.
struct LauncherIdentity {
  std::string host;  ///< The name of the host on which the launcher was started.
  /// The kernel's id of the boot of that host. After the next boot, the launcher no longer exists.
  std::string boot;
  pid_t pid = 0;  ///< The launcher's pid on that host.
  /// When the launcher was started, in clock ticks since boot. It is needed because pids are reused.
  std::uint64_t start_ticks = 0;
};

/// Returns the identity of the calling process.
LauncherIdentity this_process();

/// Whether a launcher is alive, as far as this host can tell.
enum class Launcher {
  kAlive,
  kDead,
  kElsewhere,  ///< The launcher was started on another host, so nothing is known about it.
};

/// Looks for the launcher among the processes of this host.
Launcher find_launcher(const LauncherIdentity& launcher);

}  // namespace trainyard::archive
