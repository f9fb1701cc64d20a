// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace trainyard::launch {

/// Returns the state of process `pid`, which is field 3 of /proc/<pid>/stat, or 0 if there is no such process. Some of
/// the states are 'R' (running), 'S' (sleeping), 'T' (stopped by a signal), 't' (stopped by a debugger) and 'Z' (ended,
/// but not reaped).
char state_of(pid_t pid);

/// Returns true if a debugger is attached to process `pid`.
bool is_traced(pid_t pid);

/// Returns the number of bytes that process `pid` has read from and written to disks since it started; 0 if the system
/// does not provide it.
std::uint64_t disk_bytes(pid_t pid);

/// Stops every descendant of this process with SIGSTOP, parents before their children, including descendants that are
/// started during the call. Returns the pids of the processes that it has stopped, in that order. A process that was
/// already stopped is not included.
std::vector<pid_t> stop_descendants();

/// Returns the pids of all descendants of `root`, children before grandchildren. Zombies are included.
std::vector<pid_t> descendants(pid_t root);

/// Kills all descendants of this process with SIGKILL and reaps them. This is repeated until none is left, so that a
/// process that forks in the meantime does not escape. Gives up after `deadline`, because a process that is stuck in
/// the kernel cannot be killed. Returns the number of processes that were reaped. The calling process must be a
/// sub-reaper; otherwise the grandchildren of a killed child would become children of init.
std::size_t kill_descendants(std::chrono::milliseconds deadline = std::chrono::seconds(5));

}  // namespace trainyard::launch
