// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/memory/memory_file.h"
#include "devices/block.h"
#include "messages/buffer.h"

namespace trainyard::cuda_device {

class Memory;

/// What another process needs in order to open an allocation. BlockHandle::memory contains the bytes of this struct.
struct MemoryHandle {
  cudaIpcMemHandle_t allocation = {};
  /// A page in host memory that exists as long as the allocation, and contains its size. It shows whether the
  /// allocation still exists, which the driver does not report clearly.
  SharedHandle page;

  std::vector<std::uint8_t> bytes() const;
  /// Converts the result of bytes() back to a handle. Throws kCorrupt if there are too few bytes or too many.
  static MemoryHandle from(const std::vector<std::uint8_t>& bytes);
};

/// A block that this process has allocated.
class OwnBlock final : public devices::Block {
 public:
  OwnBlock(DeviceId device, std::shared_ptr<Memory> memory, void* address, std::size_t bytes, std::string what);
  ~OwnBlock() override;

  /// Returns a handle for other processes. Throws kUnsupported if the driver cannot share the block.
  MemoryHandle handle();

 private:
  std::shared_ptr<Memory> memory_;
  std::mutex mutex_;
  std::shared_ptr<core::MemoryFile> page_;  ///< Made by the first call of handle().
  MemoryHandle handle_;
};

/// An allocation of another process. All blocks in it that this process has opened share this object.
class OpenedAllocation {
 public:
  /// Throws kPeerLost if the other process has ended or has freed the allocation, and kCorrupt if the handle is
  /// damaged.
  OpenedAllocation(std::shared_ptr<Memory> memory, const MemoryHandle& handle);
  ~OpenedAllocation();
  OpenedAllocation(const OpenedAllocation&) = delete;
  OpenedAllocation& operator=(const OpenedAllocation&) = delete;

  std::byte* address() const { return static_cast<std::byte*>(address_); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Memory> memory_;
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The memory of one GPU, as far as this process has allocated or opened it. Thread-safe.
class Memory : public std::enable_shared_from_this<Memory> {
 public:
  /// `name` names the GPU in errors.
  Memory(DeviceId device, int gpu, std::string name);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  int gpu() const { return gpu_; }

  /// Allocates a zeroed block. Throws kUnsupported if there is no room; the error lists the blocks of this process.
  std::shared_ptr<OwnBlock> allocate(std::size_t bytes, std::string what);
  /// Returns a handle with which other processes can open a block of this process. Throws what OwnBlock::handle()
  /// throws.
  MemoryHandle export_block(const std::shared_ptr<OwnBlock>& block);
  /// Opens a block of another process, or of this one. Throws what OpenedAllocation and MemoryHandle::from() throw, and
  /// kCorrupt if the block is not inside the allocation.
  std::shared_ptr<devices::Block> open(const BlockHandle& handle);

  std::size_t allocated_bytes() const;

  /// Called when a stream is destroyed before all its operations are done. From then on, nothing is freed before the
  /// process ends, because the driver would wait for this stream forever.
  void abandon() { abandoned_ = true; }
  bool abandoned() const { return abandoned_; }

 private:
  friend class OwnBlock;

  struct Holder {
    std::size_t bytes = 0;
    std::string what;
  };

  [[noreturn]] void refuse(std::size_t bytes, const std::string& what) const;
  void zero(void* address, std::size_t bytes);
  void forget(void* address);
  std::shared_ptr<OwnBlock> own_block(const MemoryHandle& handle);
  std::shared_ptr<OpenedAllocation> opened(const MemoryHandle& handle);

  DeviceId device_;
  int gpu_;
  std::string name_;
  cudaStream_t zeroing_ = nullptr;
  std::atomic<bool> abandoned_ = false;
  mutable std::mutex mutex_;
  std::map<void*, Holder> holders_;
  std::map<std::uint64_t, std::weak_ptr<OwnBlock>> exported_;        ///< By the inode of the page.
  std::map<std::uint64_t, std::weak_ptr<OpenedAllocation>> opened_;  ///< By the inode of the page.
};

}  // namespace trainyard::cuda_device
