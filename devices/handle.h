// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::devices {

/// The identity of a device, by which two processes of a host know that they mean the same one. Their numbers for it
/// can differ, since each process may see other devices.
struct DeviceId {
  std::string kind;  ///< The kind of memory, such as "cuda".
  std::string uuid;  ///< Unique among the devices of this kind.

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

/// What another process of the host needs in order to open a block: the memory from which the block was cut, as the
/// driver describes it, and the place of the block in it. Drivers export whole allocations only.
struct BlockHandle {
  DeviceId device;
  std::vector<std::uint8_t> memory;  ///< The driver's description of the whole allocation.
  std::uint64_t offset = 0;          ///< Where the block begins in the allocation, in bytes.
  std::uint64_t bytes = 0;           ///< The size of the block.
};

/// What another process of the host needs in order to open a fence.
struct FenceHandle {
  DeviceId device;
  std::vector<std::uint8_t> fence;  ///< The driver's description.
};

}  // namespace trainyard::devices
