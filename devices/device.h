// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "devices/block.h"
#include "devices/fence.h"
#include "devices/handle.h"
#include "devices/link_bytes.h"
#include "devices/stream.h"

namespace trainyard::devices {

/// What a device can do with its memory, without LibTorch, so that every component of a run can use it in any process
/// of the host. See docs/decisions/0030-memory-spaces.md.
///
/// Streams, blocks and fences must not outlive the device that made them. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceId& id() const { return id_; }

  /// Returns a zeroed block whose address is aligned to 256 bytes. `what` says what the block is for, such as
  /// "parameters of rank 0". Throws kUnsupported if the device has too little memory; the error names the requested
  /// size and the blocks that use the memory.
  virtual std::shared_ptr<Block> allocate(std::size_t bytes, std::string what) = 0;

  /// Returns a new stream. `name` appears in timelines and errors.
  virtual std::unique_ptr<Stream> make_stream(std::string name) = 0;

  virtual std::shared_ptr<Fence> make_fence() = 0;

  /// Return handles with which other processes of the host can open the block or the fence as long as it exists in this
  /// process. Throw kUnsupported if the device cannot share memory, as in this default implementation.
  virtual BlockHandle export_block(const Region& region);
  virtual FenceHandle export_fence(const Fence& fence);

  /// Open a block or a fence of another process. Throw kUnsupported if the device cannot share memory, as in this
  /// default implementation; kInvalidArgument if the handle belongs to another device; kPeerLost if the other process
  /// has ended; and kCorrupt if the handle does not fit the memory that it refers to.
  virtual std::shared_ptr<Block> open_block(const BlockHandle& handle);
  virtual std::shared_ptr<Fence> open_fence(const FenceHandle& handle);

  /// Returns the counter of the bytes that have been copied between the host and this device through this object.
  LinkBytes& link_bytes() { return link_bytes_; }

 protected:
  explicit Device(DeviceId id) : id_(std::move(id)) {}

  /// Throws kInvalidArgument if a handle belongs to another device.
  void check_is_own(const DeviceId& id) const;

 private:
  DeviceId id_;
  LinkBytes link_bytes_;
};

}  // namespace trainyard::devices
