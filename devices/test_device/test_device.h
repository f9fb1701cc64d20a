// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/device.h"
#include "devices/test_device/done.h"
#include "devices/test_device/memory.h"

namespace trainyard::test_device {

/// The properties of a test device.
struct Options {
  int index = 0;  ///< The device's number. Processes can share blocks only if their devices have the same number.
  std::size_t memory_bytes = 1ull << 30;  ///< The size of the memory. Only used pages occupy host memory.
  double link_gb_per_s = 0;  ///< The speed of copies from and to the host, in 1e9 bytes per second; 0 means unlimited.
  double latency_us = 0;     ///< The time added to every operation.
};

/// The number of devices that each process sees.
inline constexpr int kDevices = 8;

/// A simulated device for tests, which needs no special hardware. It has separate memory that the processor cannot
/// access, so code that mistakes device memory for host memory crashes. It has asynchronous streams, and can share its
/// memory with other processes of the host.
class TestDevice final : public devices::Device {
 public:
  static constexpr const char* kKind = "test_device";

  explicit TestDevice(const Options& options = {});
  ~TestDevice() override;

  std::shared_ptr<devices::Block> allocate(std::size_t bytes, std::string what) override;
  std::unique_ptr<devices::Stream> make_stream(std::string name) override;
  /// Returns a stream that carries out every operation within the call, like the kernels of a library that has no
  /// streams. `native` must be null.
  std::unique_ptr<devices::Stream> adopt_stream(std::string name, void* native) override;
  std::shared_ptr<devices::Fence> make_fence() override;
  std::unique_ptr<devices::Update> make_update(devices::Stream& stream, const devices::UpdateRequest& request,
                                               devices::UpdateRegions regions) override;
  BlockHandle export_block(const devices::Region& region) override;
  FenceHandle export_fence(const devices::Fence& fence) override;
  std::shared_ptr<devices::Block> open_block(const BlockHandle& handle) override;
  std::shared_ptr<devices::Fence> open_fence(const FenceHandle& handle) override;

  const Options& options() const { return options_; }
  std::size_t used_bytes() const { return memory_->used(); }

  /// Returns the address through which the device itself accesses a region. Only streams and kernels may use it.
  std::byte* window(const devices::Region& region) const;
  /// Returns the address through which the device itself accesses the byte at `address`, one of its own addresses. Only
  /// streams and kernels may use it. Throws kInternal for an address that is not in memory which this object has made
  /// or opened.
  std::byte* window(const void* address);

  /// Adds an operation to the result of take_done(). Streams call this function when they have carried out an
  /// operation.
  void add(Done done);
  /// Returns the operations that have ended since the last call, in the order in which they ended. Only the last 65,536
  /// operations are kept.
  std::vector<Done> take_done();
  /// Returns the number of bytes that all operations have copied over the link so far, in each direction. This includes
  /// the copies whose purpose is not known, which link_bytes() does not count.
  devices::LinkCount crossed();

 private:
  static constexpr std::size_t kMostDone = 65'536;

  std::shared_ptr<Memory> opened(const SharedHandle& handle);

  Options options_;
  std::shared_ptr<Memory> memory_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Memory>> opened_;  ///< The memory of other processes, by inode.
  std::deque<Done> done_;
  devices::LinkCount crossed_;
};

}  // namespace trainyard::test_device
