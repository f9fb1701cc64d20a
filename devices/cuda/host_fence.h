// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/memory/memory_file.h"
#include "devices/fence.h"
#include "messages/buffer.h"

namespace trainyard::cuda_device {

/// A fence in a page of shared host memory. The page is page-locked, so that streams of the GPU can signal the fence
/// and wait for it. A thread that waits for the fence polls it, because a GPU cannot wake a thread through memory.
class HostFence final : public devices::Fence {
 public:
  /// Makes a fence that the GPU `gpu` can use.
  static std::shared_ptr<HostFence> make(int gpu);
  /// Opens a fence of another process, or of this one. The errors are those of core::MemoryFile::open.
  static std::shared_ptr<HostFence> open(const SharedHandle& handle, int gpu);
  ~HostFence() override;

  SharedHandle handle() const { return file_.handle(); }
  /// Returns the address of the fence's number in the address space of the GPU.
  std::uint64_t address() const { return address_; }

  std::uint64_t value() const override;
  void signal(std::uint64_t value) override;
  void await(std::uint64_t value, std::chrono::milliseconds limit) const override;

 private:
  struct Page;

  HostFence(core::MemoryFile file, int gpu);

  core::MemoryFile file_;
  int gpu_;
  Page* page_ = nullptr;
  std::uint64_t address_ = 0;
};

}  // namespace trainyard::cuda_device
