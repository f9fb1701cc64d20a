// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainyard::core {

/// The processor time that this process has used so far, and the memory that it uses now.
struct ProcessUsage {
  std::int64_t cpu_ns = 0;         ///< The processor time of all threads, in nanoseconds; it only grows.
  std::uint64_t memory_bytes = 0;  ///< The resident memory, including shared memory; 0 if it is unknown.
};

/// Returns the usage of the calling process. A number that the system does not report is 0.
ProcessUsage process_usage();

}  // namespace trainyard::core
