#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace xpu {

/// The memory of one imaginary device.
///
/// Its addresses mean nothing to the processor: whoever follows one dies of a segmentation fault, as with a real card.
/// Only `window` leads to the bytes, the way a driver would copy them. So a program that runs to its end has proven
/// that no code took the device's tensors for the host's.
class DeviceMemory {
 public:
  static constexpr std::size_t kBytes = std::size_t{4} << 30;  ///< Address space; only what is used becomes memory.
  static constexpr std::size_t kAlignment = 256;

  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// A device address, aligned to kAlignment. Throws trainyard::Error (kUnsupported) when the device is full.
  void* take(std::size_t bytes);
  void give_back(void* device_address);

  bool contains(const void* address) const;

  /// Where the host finds the byte that the device knows as `device_address`.
  std::byte* window(const void* device_address) const;

  struct Use {
    std::size_t bytes = 0;          ///< Taken at present.
    std::size_t peak_bytes = 0;     ///< The most that were.
    std::uint64_t allocations = 0;  ///< Since the start.
  };
  Use use() const;

 private:
  mutable std::mutex mutex_;
  int file_ = -1;
  std::byte* device_ = nullptr;                           ///< The device's addresses: mapped, and forbidden.
  std::byte* window_ = nullptr;                           ///< The same bytes, for copies.
  std::size_t end_ = 0;                                   ///< What lies beyond has never been taken.
  std::map<std::size_t, std::vector<std::size_t>> free_;  ///< Offsets of what was given back, by size.
  std::map<std::size_t, std::size_t> taken_;              ///< Size by offset.
  Use use_;
};

/// Devices that there are; the machine came with two.
inline constexpr int kDevices = 2;

/// The memory of a device; made when it is first asked for, and there until the process ends.
DeviceMemory& memory_of(int device);

/// The memory that an address belongs to; null if it is no device's.
DeviceMemory* memory_at(const void* address);

}  // namespace xpu
