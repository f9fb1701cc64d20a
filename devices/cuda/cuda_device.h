// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "devices/cuda/driver_functions.h"
#include "devices/cuda/memory.h"
#include "devices/cuda/page_locks.h"
#include "devices/device.h"

namespace trainyard::cuda_device {

/// An NVIDIA GPU.
class CudaDevice final : public devices::Device {
 public:
  static constexpr const char* kKind = "cuda";

  /// `gpu` is the index of the GPU among those that this process sees. `name` names it in errors.
  CudaDevice(std::string uuid, int gpu, std::string name);
  ~CudaDevice() override;

  std::shared_ptr<devices::Block> allocate(std::size_t bytes, std::string what) override;
  std::unique_ptr<devices::Stream> make_stream(std::string name) override;
  std::unique_ptr<devices::Stream> adopt_stream(std::string name, void* native) override;
  std::shared_ptr<devices::Fence> make_fence() override;
  std::unique_ptr<devices::Update> make_update(devices::Stream& stream, const devices::UpdateRequest& request,
                                               devices::UpdateRegions regions) override;
  BlockHandle export_block(const devices::Region& region) override;
  FenceHandle export_fence(const devices::Fence& fence) override;
  std::shared_ptr<devices::Block> open_block(const BlockHandle& handle) override;
  std::shared_ptr<devices::Fence> open_fence(const FenceHandle& handle) override;

  std::size_t allocated_bytes() const override { return memory_->allocated_bytes(); }

  int gpu() const { return memory_->gpu(); }
  const std::string& name() const { return name_; }
  const DriverFunctions& driver() const { return driver_; }
  PageLocks& page_locks() { return page_locks_; }

  /// Called when a stream is destroyed before all its operations are done; see Memory::abandon().
  void abandon();

 private:
  std::string name_;
  DriverFunctions driver_;
  std::shared_ptr<Memory> memory_;
  PageLocks page_locks_;
};

}  // namespace trainyard::cuda_device
