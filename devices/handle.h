// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::devices {

/// The identity of a device. With it, two processes of a host can tell whether they use the same device. The numbers
/// that they use for a device can differ, because each process may see other devices.
struct DeviceId {
  std::string kind;  ///< The kind of memory, such as "cuda".
  std::string uuid;  ///< A text that is unique among the devices of this kind.

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

/// What another process of the host needs in order to open a block. Drivers can share only whole allocations, so the
/// handle describes the allocation that contains the block, and the place of the block in it.
struct BlockHandle {
  DeviceId device;
  std::vector<std::uint8_t> memory;  ///< The driver's description of the whole allocation.
  std::uint64_t offset = 0;          ///< Where the block begins in the allocation, in bytes.
  std::uint64_t bytes = 0;           ///< The size of the block.
};

/// What another process of the host needs in order to open a fence.
struct FenceHandle {
  DeviceId device;
  std::vector<std::uint8_t> fence;  ///< The driver's description of the fence.
};

}  // namespace trainyard::devices
