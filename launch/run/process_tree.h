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

/// Returns the state of process `pid` as a letter (field 3 of /proc/<pid>/stat): 'R' runs, 'S' sleeps, 'T' was stopped
/// by a signal, 't' was stopped by a debugger, 'Z' has ended. It is 0 if there is no such process.
char state_of(pid_t pid);

/// Returns true if a debugger is attached to process `pid`.
bool is_traced(pid_t pid);

/// Returns how many bytes process `pid` has read from disks and written to them so far; 0 if the system does not tell.
std::uint64_t disk_bytes(pid_t pid);

/// Stops every descendant of this process with SIGSTOP, parents before children, also those that are started meanwhile.
/// Returns those that were stopped by this call, in this order. A process that was stopped before is left alone.
std::vector<pid_t> stop_descendants();

/// Returns every process below `root`, children before grandchildren. Zombies are included, `root` is not.
std::vector<pid_t> descendants(pid_t root);

/// Kills every descendant of this process with SIGKILL and reaps it, again and again until none is left, so that a
/// process that forks meanwhile does not escape. The caller must be a sub-reaper, because otherwise the grandchildren
/// of a killed child go to init. Returns how many were reaped. It stops after `deadline`, because a process stuck in
/// the kernel cannot be killed.
std::size_t kill_descendants(std::chrono::milliseconds deadline = std::chrono::seconds(5));

}  // namespace trainyard::launch
