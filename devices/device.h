// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "devices/block.h"
#include "devices/fence.h"
#include "devices/link_bytes.h"
#include "devices/stream.h"
#include "devices/update.h"
#include "messages/device_handle.h"

namespace trainyard::devices {

/// The interface to one device: its memory, its streams and its fences. It does not use LibTorch, so every component of
/// a run can use it, in any process of the host. See docs/decisions/0030-memory-spaces.md.
///
/// Streams, blocks and fences must not outlive the device that made them. All functions are thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceId& id() const { return id_; }

  /// Returns a zeroed block whose address is aligned to 256 bytes. `what` describes the contents for error messages,
  /// such as "parameters of rank 0". Throws kUnsupported if there is too little memory; the error states how much was
  /// requested, and which blocks occupy the memory.
  virtual std::shared_ptr<Block> allocate(std::size_t bytes, std::string what) = 0;

  /// Returns a new stream. `name` identifies the stream in timelines and error messages.
  virtual std::unique_ptr<Stream> make_stream(std::string name) = 0;

  /// Returns an object for a stream that the caller already has, such as the one on which LibTorch computes. `native`
  /// is the driver's handle of the stream (for CUDA a cudaStream_t); the stream must exist for as long as the result.
  /// Throws kUnsupported if the device has no such streams; the default implementation always throws it.
  virtual std::unique_ptr<Stream> adopt_stream(std::string name, void* native);

  virtual std::shared_ptr<Fence> make_fence() = 0;

  /// Returns an update of `regions`, as `request` describes it. Each call of its run() submits one pass over all
  /// parameters to `stream`, which must belong to this device and must exist for as long as the update. Before the
  /// call, check the request with check(), and write the initial state to the regions.
  virtual std::unique_ptr<Update> make_update(Stream& stream, const UpdateRequest& request, UpdateRegions regions) = 0;

  /// export_block() and export_fence() return handles with which other processes of the host can open a block or a
  /// fence for as long as it exists in this process. Both throw kUnsupported if the device cannot share memory; the
  /// default implementations always throw it.
  virtual BlockHandle export_block(const Region& region);
  virtual FenceHandle export_fence(const Fence& fence);

  /// open_block() and open_fence() open a block or a fence of another process. Both throw kUnsupported if the device
  /// cannot share memory, kInvalidArgument if the handle belongs to another device, kPeerLost if the other process has
  /// ended, and kCorrupt if the handle does not match the memory that it refers to. The default implementations always
  /// throw kUnsupported.
  virtual std::shared_ptr<Block> open_block(const BlockHandle& handle);
  virtual std::shared_ptr<Fence> open_fence(const FenceHandle& handle);

  /// Returns the number of bytes in the blocks that this object has allocated and that still exist, for measurements.
  /// The default returns 0.
  virtual std::size_t allocated_bytes() const { return 0; }

  /// Returns the counter of the bytes that the streams of this device have copied between the host and the device.
  LinkBytes& link_bytes() { return link_bytes_; }

 protected:
  explicit Device(DeviceId id) : id_(std::move(id)) {}

  /// Throws kInvalidArgument if `id`, the device of a handle, is not this device.
  void check_is_own(const DeviceId& id) const;

 private:
  DeviceId id_;
  LinkBytes link_bytes_;
};

}  // namespace trainyard::devices
