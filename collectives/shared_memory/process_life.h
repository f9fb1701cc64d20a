#pragma once

#include <sys/types.h>

#include <cstdint>

namespace trainyard::shared_memory {

/// When process `pid` was started, in clock ticks since boot; 0 if there is no such process, or if it has ended and
/// only waits to be reaped. Together with the pid it identifies a process for good.
std::uint64_t start_ticks(pid_t pid);

}  // namespace trainyard::shared_memory
