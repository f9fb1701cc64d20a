// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_device.h"

#include <cstring>
#include <utility>

#include "devices/cuda/calls.h"
#include "devices/cuda/cuda_stream.h"
#include "devices/cuda/fused_update.h"
#include "devices/cuda/host_fence.h"
#include "messages/error.h"

namespace trainyard::cuda_device {

CudaDevice::CudaDevice(std::string uuid, int gpu, std::string name)
    : Device({.kind = kKind, .uuid = std::move(uuid)}),
      name_(std::move(name)),
      driver_(gpu),
      memory_(std::make_shared<Memory>(id(), gpu, name_)),
      page_locks_(gpu) {}

CudaDevice::~CudaDevice() = default;

std::shared_ptr<devices::Block> CudaDevice::allocate(std::size_t bytes, std::string what) {
  return memory_->allocate(bytes, std::move(what));
}

std::unique_ptr<devices::Stream> CudaDevice::make_stream(std::string name) {
  const CurrentGpu current(gpu());
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        "to make stream '" + name + "'");
  return std::make_unique<CudaStream>(*this, std::move(name), stream, /*owned=*/true);
}

std::unique_ptr<devices::Stream> CudaDevice::adopt_stream(std::string name, void* native) {
  return std::make_unique<CudaStream>(*this, std::move(name), static_cast<cudaStream_t>(native), /*owned=*/false);
}

std::shared_ptr<devices::Fence> CudaDevice::make_fence() { return HostFence::make(gpu()); }

std::unique_ptr<devices::Update> CudaDevice::make_update(devices::Stream& stream, const devices::UpdateRequest& request,
                                                         devices::UpdateRegions regions) {
  return make_fused_update(*this, dynamic_cast<CudaStream&>(stream), request, std::move(regions));
}

BlockHandle CudaDevice::export_block(const devices::Region& region) {
  const auto block = std::dynamic_pointer_cast<OwnBlock>(region.owner());
  if (block == nullptr) {
    throw Error(Code::kInternal, "{} was not allocated by this process, which can therefore not export it",
                region.block().what());
  }
  return {id(), memory_->export_block(block).bytes(), region.offset(), region.bytes()};
}

FenceHandle CudaDevice::export_fence(const devices::Fence& fence) {
  const SharedHandle handle = dynamic_cast<const HostFence&>(fence).handle();
  std::vector<std::uint8_t> bytes(sizeof handle);
  std::memcpy(bytes.data(), &handle, sizeof handle);
  return {id(), std::move(bytes)};
}

std::shared_ptr<devices::Block> CudaDevice::open_block(const BlockHandle& handle) {
  check_is_own(handle.device);
  return memory_->open(handle);
}

std::shared_ptr<devices::Fence> CudaDevice::open_fence(const FenceHandle& handle) {
  check_is_own(handle.device);
  SharedHandle page;
  if (handle.fence.size() != sizeof page) {
    throw Error(Code::kCorrupt, "a handle of a fence has {} bytes, not {}", handle.fence.size(), sizeof page);
  }
  std::memcpy(&page, handle.fence.data(), sizeof page);
  return HostFence::open(page, gpu());
}

void CudaDevice::abandon() {
  memory_->abandon();
  page_locks_.abandon();
}

}  // namespace trainyard::cuda_device
