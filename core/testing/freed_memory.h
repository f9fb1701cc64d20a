// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace trainyard::testing {

/// Returns the memory that a process occupies, in bytes. `process` is its id, or "self".
inline std::uint64_t resident_bytes(const std::string& process = "self") {
  std::uint64_t all = 0, pages = 0;
  std::ifstream("/proc/" + process + "/statm") >> all >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Allocates and frees kBytes of memory. The allocator keeps this memory as long as the object exists, because a block
/// behind it is still in use.
class FreedMemory {
 public:
  static constexpr std::uint64_t kBytes = 64 << 20;
  /// False if the allocator never returns freed memory to the system, as with the sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool kCanReturn = false;
#else
  static constexpr bool kCanReturn = true;
#endif

  FreedMemory() {
    constexpr std::size_t kBlock = 4096;
    std::vector<std::unique_ptr<char[]>> blocks;
    for (std::uint64_t bytes = 0; bytes < kBytes; bytes += kBlock) {
      blocks.push_back(std::make_unique<char[]>(kBlock));
      std::memset(blocks.back().get(), 1, kBlock);
    }
    last_ = std::make_unique<char[]>(kBlock);
  }

 private:
  std::unique_ptr<char[]> last_;
};

}  // namespace trainyard::testing
