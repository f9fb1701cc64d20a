// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/gpu.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <cstdlib>

#include "accelerators/accelerator.h"
#include "accelerators/cuda/native.h"

namespace trainyard::cuda {
namespace {

/// Makes the device current for this thread.
c10::DeviceIndex made_current(int index) {
  // cuBLAS cannot be deterministic without this variable, and reads it when it is first used. Other runs do not set it,
  // because cuBLAS may choose slower kernels then.
  if (at::globalContext().deterministicAlgorithms()) {
    ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  }
  const auto device = static_cast<c10::DeviceIndex>(index);
  c10::cuda::set_device(device);
  return device;
}

/// Returns the GPU's place on the PCI bus, by which other libraries find the same GPU. Numbers are no help, because
/// CUDA_VISIBLE_DEVICES changes them.
std::string bus_id_of(int index) {
  char id[32] = {};
  return cudaDeviceGetPCIBusId(id, sizeof id, index) == cudaSuccess ? id : "";
}

}  // namespace

/// Batches are copied on a stream of high priority, because they are small and should not wait behind kernels.
Gpu::Gpu(const Accelerator& cuda, int index, bool record_steps)
    : ClaimedDevice(cuda, at::Device(at::kCUDA, made_current(index))),
      compute_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, torch_device().index())),
      copies_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, torch_device().index())),
      nvml_(bus_id_of(index)) {
  c10::cuda::setCurrentCUDAStream(compute_);
  native_ = open_native(context(), index, compute_.stream());
  if (record_steps) recorder_.emplace(context().where, context().log);
  // The allocator knows its devices only after the first allocation, and stats() asks it.
  at::empty({0}, at::TensorOptions().device(torch_device()));
}

Gpu::~Gpu() {
  for (const Buffer& buffer : locked_) cudaHostUnregister(buffer.data());
}

std::vector<at::Generator> Gpu::generators() const {
  return {at::detail::getDefaultCPUGenerator(), at::cuda::detail::getDefaultCUDAGenerator(torch_device().index())};
}

std::vector<at::Tensor> Gpu::move_batch(std::vector<at::Tensor> tensors) {
  const c10::cuda::CUDAStreamGuard on_copies(copies_);
  for (at::Tensor& tensor : tensors) {
    if (!tensor.is_cpu()) continue;
    // LibTorch's pool of pinned memory reuses a block only when the copies from it are done.
    at::Tensor pinned = at::empty(tensor.sizes(), tensor.options().pinned_memory(true));
    pinned.copy_(tensor);
    tensor = pinned.to(torch_device(), /*non_blocking=*/true);
    // The tensor is made on one stream and used on another, so its memory must not be reused before the latter is done
    // with it.
    c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), compute_);
  }
  at::cuda::CUDAEvent arrived;
  arrived.record(copies_);
  arrived.block(compute_);
  return tensors;
}

/// Later kernels on the stream wait for a copy to the device. The host's copy is not overwritten before the next block
/// has arrived from the device, and that copy does wait.
void Gpu::copy_block(at::Tensor to, const at::Tensor& from) { to.copy_(from, /*non_blocking=*/to.is_cuda()); }

/// The value is copied to pinned memory behind the work that has been submitted so far. Waiting for this copy does not
/// wait for work that is submitted later.
std::function<double()> Gpu::read_later(const at::Tensor& scalar) {
  const at::Tensor pinned = at::empty({}, scalar.options().device(at::kCPU).pinned_memory(true));
  at::Tensor(pinned).copy_(scalar, /*non_blocking=*/true);
  const auto copied = std::make_shared<at::cuda::CUDAEvent>();
  copied->record(compute_);
  return [pinned, copied] {
    copied->synchronize();
    return pinned.item<double>();
  };
}

void Gpu::synchronize() { c10::cuda::device_synchronize(); }

/// If this fails, copies are only slower, so a limit on locked memory is not an error.
void Gpu::prepare_host_block(const Buffer& block) {
  if (block.size() == 0) return;
  const cudaError_t result = cudaHostRegister(block.data(), block.size(), cudaHostRegisterDefault);
  if (result == cudaSuccess) {
    locked_.push_back(block);
    return;
  }
  cudaGetLastError();                                          // Clears the error, so that no later call reports it.
  if (result == cudaErrorHostMemoryAlreadyRegistered) return;  // The device plugin has locked it for a copy.
  context().log->warn("{}: {} bytes of the arena's mirror cannot be page-locked; its copies will be slower",
                      context().where, block.size());
}

std::map<std::string, double> Gpu::stats() const {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(torch_device().index());
  constexpr std::size_t kAll = 0;  // The pools of small and of large blocks together.
  // The arena is not in LibTorch's pool, and lives as long as the run.
  const auto arena = native_ ? static_cast<double>(native_->device->allocated_bytes()) : 0.0;
  std::map<std::string, double> all = nvml_.stats();
  all["memory_bytes"] = arena + static_cast<double>(stats.allocated_bytes[kAll].current);
  all["peak_memory_bytes"] = arena + static_cast<double>(stats.allocated_bytes[kAll].peak);
  all["reserved_bytes"] = static_cast<double>(stats.reserved_bytes[kAll].current);
  return all;
}

}  // namespace trainyard::cuda
