// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "messages/buffer.h"
#include "messages/device_handle.h"

namespace trainyard::devices {

/// A piece of device memory. Blocks are held by shared pointers, and an operation that was submitted to a stream holds
/// the blocks on which it works, so memory is never freed while the device uses it.
class Block {
 public:
  virtual ~Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const DeviceId& device() const { return device_; }
  /// Returns the address of the first byte, for kernels of the device. The processor must not access memory through it.
  void* address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  /// Returns a description of what the block holds, for error messages, such as "parameters of rank 0".
  const std::string& what() const { return what_; }

 protected:
  Block(DeviceId device, void* address, std::size_t bytes, std::string what)
      : device_(std::move(device)), address_(address), bytes_(bytes), what_(std::move(what)) {}

 private:
  DeviceId device_;
  void* address_;
  std::size_t bytes_;
  std::string what_;
};

/// A range of bytes in a block. The region keeps the block alive.
class Region {
 public:
  /// Makes a region that covers the whole block.
  explicit Region(std::shared_ptr<Block> block);
  /// Makes a region of `bytes` bytes that begins at byte `offset` of the block. Throws kInternal if the region is not
  /// inside the block.
  Region(std::shared_ptr<Block> block, std::size_t offset, std::size_t bytes);

  const Block& block() const { return *block_; }
  const std::shared_ptr<Block>& owner() const { return block_; }
  std::size_t offset() const { return offset_; }
  std::size_t bytes() const { return bytes_; }
  void* address() const { return static_cast<std::byte*>(block_->address()) + offset_; }

  /// Returns the part of this region that has `bytes` bytes and begins at byte `offset` of this region. Throws
  /// kInternal if the part is not inside this region.
  Region part(std::size_t offset, std::size_t bytes) const;

 private:
  std::shared_ptr<Block> block_;
  std::size_t offset_;
  std::size_t bytes_;
};

/// A range of bytes in a buffer in host memory, which is the source or the destination of a copy. The region keeps the
/// buffer alive.
class HostRegion {
 public:
  explicit HostRegion(Buffer buffer) : buffer_(std::move(buffer)), offset_(0), bytes_(buffer_.size()) {}
  /// Makes a region of `bytes` bytes that begins at byte `offset` of the buffer. Throws kInternal if the region is not
  /// inside the buffer.
  HostRegion(Buffer buffer, std::size_t offset, std::size_t bytes);

  const Buffer& buffer() const { return buffer_; }
  std::byte* data() const { return buffer_.data() + offset_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Buffer buffer_;
  std::size_t offset_;
  std::size_t bytes_;
};

}  // namespace trainyard::devices
