// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace trainyard::launch {

/// Returns the time at which process `pid` was started, in clock ticks since boot (field 22 of /proc/<pid>/stat).
/// Together with the pid it identifies a process uniquely, since a pid alone may be reused. It is 0 if there is no such
/// process.
std::uint64_t start_ticks(pid_t pid);

/// Returns every process below `root`, children before grandchildren. Zombies are included, `root` is not.
std::vector<pid_t> descendants(pid_t root);

/// Kills every descendant of this process with SIGKILL and reaps it, again and again until none is left, so that a
/// process that forks meanwhile does not escape. The caller must be a sub-reaper, because otherwise the grandchildren
/// of a killed child go to init. Returns how many were reaped. It stops after `deadline`, because a process stuck in
/// the kernel cannot be killed.
std::size_t kill_descendants(std::chrono::milliseconds deadline = std::chrono::seconds(5));

}  // namespace trainyard::launch
