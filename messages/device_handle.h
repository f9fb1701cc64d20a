// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// Identifies a device, so that two processes of a host can tell whether they refer to the same device. The number of a
/// device is not enough for this, because it can differ from process to process: each process may see only some of the
/// devices.
struct DeviceId {
  static constexpr const char* kTypeName = "DeviceId";

  std::string kind;  ///< The kind of memory, such as "cuda". The device plugin of this name opens the device.
  std::string uuid;  ///< A text that is unique among the devices of this kind.

  friend bool operator==(const DeviceId&, const DeviceId&) = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(kind), CEREAL_NVP(uuid));
  }
};

/// What another process of the host needs in order to open a block of device memory: the driver's description of the
/// allocation that contains the block, and the position of the block in this allocation. A driver can only export a
/// whole allocation.
struct BlockHandle {
  static constexpr const char* kTypeName = "BlockHandle";

  DeviceId device;
  std::vector<std::uint8_t> memory;  ///< The driver's description of the whole allocation.
  std::uint64_t offset = 0;          ///< Where the block begins in the allocation, in bytes.
  std::uint64_t bytes = 0;           ///< The size of the block.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(device), CEREAL_NVP(memory), CEREAL_NVP(offset), CEREAL_NVP(bytes));
  }
};

/// What another process of the host needs in order to open a fence: a number in memory that streams of a device use to
/// wait for each other (devices/fence.h).
struct FenceHandle {
  static constexpr const char* kTypeName = "FenceHandle";

  DeviceId device;
  std::vector<std::uint8_t> fence;  ///< The driver's description of the fence.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(device), CEREAL_NVP(fence));
  }
};

}  // namespace trainyard
