// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace trainyard {

/// The kind of memory that holds a block of elements.
enum class MemoryKind : std::uint8_t {
  kHost,        ///< Main memory that only this process can access.
  kSharedHost,  ///< Memory behind a file descriptor (a memfd), which other processes of the host can map.
  kDevice,      ///< Memory of an accelerator, which the processor cannot read.
};

/// The kind of a piece of memory, and the device to which the memory belongs. Together they determine which processes
/// and devices can access the memory.
struct MemorySpace {
  MemoryKind kind = MemoryKind::kHost;
  std::uint16_t device = 0;  ///< The index of the device; 0 for memory of the host.

  bool is_device() const { return kind == MemoryKind::kDevice; }
  friend bool operator==(const MemorySpace&, const MemorySpace&) = default;
};

/// Returns a description for error messages and logs: "host memory", "shared host memory", "the memory of device 1".
inline std::string name_of(MemorySpace space) {
  if (space.is_device()) return "the memory of device " + std::to_string(space.device);
  return space.kind == MemoryKind::kHost ? "host memory" : "shared host memory";
}

}  // namespace trainyard
