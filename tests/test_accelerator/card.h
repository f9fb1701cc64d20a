// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "devices/test_device/immediate_stream.h"
#include "devices/test_device/test_device.h"

namespace trainyard::test_accelerator {

/// A test device as LibTorch uses it. All tensors on the device, and the blocks of the arena, are in its memory.
///
/// Memory that a tensor has freed is kept for the next tensor of the same size, because every step allocates the same
/// sizes.
class Card : public std::enable_shared_from_this<Card> {
 public:
  explicit Card(const test_device::Options& options);

  /// Returns the card with this index for as long as somebody refers to it, and makes it with default options if it
  /// does not exist.
  static std::shared_ptr<Card> of(int index);
  /// Returns the card with the index in `options`. Throws kInvalidArgument if the card exists already with other
  /// options.
  static std::shared_ptr<Card> with(const test_device::Options& options);

  const std::shared_ptr<test_device::TestDevice>& device() const { return device_; }

  /// Allocates memory for a tensor. The memory keeps the card alive. Throws kUnsupported if too little memory is free.
  c10::DataPtr take(std::size_t bytes);

  /// Returns the address through which kernels access the byte at this address of the device.
  void* window(const void* address) const { return address == nullptr ? nullptr : device_->window(address); }

  /// Calls `copy`, which copies `bytes` bytes between the host and the device. `what` is test_device::kToDevice or
  /// kToHost. Takes the time that the link needs.
  void copy_over_link(const char* what, std::size_t bytes, const std::function<void()>& copy);

  /// The number of bytes in all tensors, now and at most.
  struct Use {
    std::size_t bytes = 0;
    std::size_t peak_bytes = 0;
  };
  Use use() const;

  /// Counts the operations of LibTorch that have been carried out on the device.
  std::atomic<std::uint64_t>& operations() { return operations_; }

 private:
  using BlockPtr = std::shared_ptr<devices::Block>;

  struct Held;

  static void release(void* held);
  BlockPtr free_block(std::size_t bytes);
  BlockPtr new_block(std::size_t bytes);
  void give_back(BlockPtr block);

  std::shared_ptr<test_device::TestDevice> device_;
  test_device::ImmediateStream copies_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<BlockPtr>> free_;  ///< Blocks that tensors have freed, by size.
  Use use_;
  std::atomic<std::uint64_t> operations_{0};
};

}  // namespace trainyard::test_accelerator
