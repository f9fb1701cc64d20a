// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainyard::cuda_device {

/// Throws kUnsupported if no CUDA driver is installed. Without this check, the CUDA runtime would report an error that
/// says only that the driver is too old.
void check_driver_is_there();

/// The functions of the CUDA driver with which a stream writes a number to memory, or waits until a number in memory
/// has reached a value. The runtime does not offer them. They are looked up when they are needed, so that the plugin
/// can be loaded on a machine without a driver.
class DriverFunctions {
 public:
  /// Throws kUnsupported if there is no driver, if it is too old, or if it does not offer these functions for the GPU
  /// with this index.
  explicit DriverFunctions(int gpu);

  /// Submits to `stream` a write of `value` to `address`, which takes place when all earlier operations of the stream
  /// are done and their results are visible to the host and to other processes. Throws kInternal if this fails.
  void write(void* stream, std::uint64_t address, std::uint64_t value) const;
  /// Submits to `stream` a wait until the number at `address` is at least `value`. Throws kInternal if this fails.
  void wait(void* stream, std::uint64_t address, std::uint64_t value) const;

 private:
  void* write_ = nullptr;
  void* wait_ = nullptr;
};

}  // namespace trainyard::cuda_device
