// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace trainyard::core {

/// Returns the time at which process `pid` was started, in clock ticks since boot (field 22 of /proc/<pid>/stat).
/// Returns 0 if there is no such process, or if it has ended and its parent has not collected its exit status yet. A
/// pid can be reused, but the pid and this time together identify a process.
std::uint64_t start_ticks(pid_t pid);

}  // namespace trainyard::core
