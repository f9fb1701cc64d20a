// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::devices {

/// Identifies a device, so that two processes of a host can tell whether they refer to the same device. The number of a
/// device is not enough for this, because it can differ from process to process: each process may see only some of the
/// devices.
struct DeviceId {
  std::string kind;  ///< The kind of memory, such as "cuda".
  std::string uuid;  ///< A text that is unique among the devices of this kind.

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

/// What another process of the host needs in order to open a block: the driver's description of the allocation that
/// contains the block, and the position of the block in this allocation. A driver can only export a whole allocation.
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
