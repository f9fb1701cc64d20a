// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainyard::core {

/// The resources of the machine that this process has used so far.
struct ProcessUsage {
  std::int64_t cpu_ns = 0;         ///< The processor time of all threads, in nanoseconds; it only grows.
  std::uint64_t memory_bytes = 0;  ///< The resident memory, including shared memory; 0 if it is unknown.
};

ProcessUsage process_usage();

}  // namespace trainyard::core
