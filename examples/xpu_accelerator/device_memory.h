// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace xpu {

/// The memory of one imaginary device.
///
/// Its addresses mean nothing to the processor: code that follows one ends with a segmentation fault, as with a real
/// card. Only `window` gives access to the bytes, as the driver of a real card would for copies. So a program that runs
/// to its end has proven that no code mistook the device's tensors for the host's.
class DeviceMemory {
 public:
  /// The size of the address space; only the used part occupies memory.
  static constexpr std::size_t kBytes = std::size_t{4} << 30;
  static constexpr std::size_t kAlignment = 256;

  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates memory and returns its device address, aligned to kAlignment. Throws trainyard::Error (kUnsupported) if
  /// the device is full.
  void* take(std::size_t bytes);
  void give_back(void* device_address);

  bool contains(const void* address) const;

  /// Returns the host address of the byte that has this address on the device.
  std::byte* window(const void* device_address) const;

  struct Use {
    std::size_t bytes = 0;          ///< The number of bytes in use now.
    std::size_t peak_bytes = 0;     ///< The largest number of bytes that were in use at once.
    std::uint64_t allocations = 0;  ///< The number of allocations since the start.
  };
  Use use() const;

 private:
  mutable std::mutex mutex_;
  int file_ = -1;
  std::byte* device_ = nullptr;                           ///< The device's addresses: mapped, but inaccessible.
  std::byte* window_ = nullptr;                           ///< The same memory, accessible, for copies.
  std::size_t end_ = 0;                                   ///< The end of the part that has ever been used.
  std::map<std::size_t, std::vector<std::size_t>> free_;  ///< The offsets of free blocks, by size.
  std::map<std::size_t, std::size_t> taken_;              ///< The sizes of blocks in use, by offset.
  Use use_;
};

/// The number of devices.
inline constexpr int kDevices = 2;

/// Returns the memory of a device. It is made by the first call and exists until the process ends.
DeviceMemory& memory_of(int device);

/// Returns the memory to which an address belongs, or null if it belongs to no device.
DeviceMemory* memory_at(const void* address);

}  // namespace xpu
