// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace trainyard::shared_memory {

/// Returns the time at which process `pid` was started, in clock ticks since boot, or 0 if there is no such process or
/// it is a zombie. The pid and this time together identify a process uniquely.
std::uint64_t start_ticks(pid_t pid);

}  // namespace trainyard::shared_memory
