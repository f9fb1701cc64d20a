// SPDX-License-Identifier: Apache-2.0
#include "core/process/process_usage.h"

#include <unistd.h>

#include <ctime>
#include <fstream>

namespace trainyard::core {

// The second number in /proc/self/statm is the number of resident pages.
ProcessUsage process_usage() {
  ProcessUsage usage;
  timespec cpu{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0) {
    usage.cpu_ns = std::int64_t{cpu.tv_sec} * 1'000'000'000 + cpu.tv_nsec;
  }
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  if (std::ifstream("/proc/self/statm") >> all >> resident) {
    usage.memory_bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return usage;
}

}  // namespace trainyard::core
