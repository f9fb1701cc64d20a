// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace xpu {

/// The memory of one imaginary device, which this example simulates in host memory.
///
/// The processor cannot access the device's addresses: code that dereferences such an address causes a segmentation
/// fault, as with a real card. Only window() gives access to the bytes; the functions that copy tensors use it in place
/// of a real card's driver. If a program runs without a crash, it has therefore never mistaken a tensor on the device
/// for a tensor in host memory.
class DeviceMemory {
 public:
  /// The size of the address space. Only the part in use occupies memory of the host.
  static constexpr std::size_t kBytes = std::size_t{4} << 30;
  static constexpr std::size_t kAlignment = 256;

  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates `bytes` bytes and returns their device address, which is aligned to kAlignment. Throws trainyard::Error
  /// (kUnsupported) if not enough memory is free.
  void* take(std::size_t bytes);

  /// Frees memory allocated by take().
  void give_back(void* device_address);

  /// Returns true if the address belongs to this device.
  bool contains(const void* address) const;

  /// Returns the address at which the host can access the byte at `device_address`.
  std::byte* window(const void* device_address) const;

  /// How much of the memory is in use.
  struct Use {
    std::size_t bytes = 0;          ///< The number of bytes that are allocated.
    std::size_t peak_bytes = 0;     ///< The largest value that `bytes` has had.
    std::uint64_t allocations = 0;  ///< The number of allocations since the start.
  };
  Use use() const;

 private:
  mutable std::mutex mutex_;
  int file_ = -1;
  std::byte* device_ = nullptr;                           ///< The device's addresses: mapped, but inaccessible.
  std::byte* window_ = nullptr;                           ///< The same memory, accessible, for copies.
  std::size_t end_ = 0;                                   ///< The end of the part that has been used at least once.
  std::map<std::size_t, std::vector<std::size_t>> free_;  ///< The offsets of free blocks, by size.
  std::map<std::size_t, std::size_t> taken_;              ///< The sizes of blocks in use, by offset.
  Use use_;
};

/// The number of devices.
inline constexpr int kDevices = 2;

/// Returns the memory of the device with this index. The first call creates it, and it exists until the process ends.
DeviceMemory& memory_of(int device);

/// Returns the memory of the device to which an address belongs, or null if the address belongs to no device.
DeviceMemory* memory_at(const void* address);

}  // namespace xpu
