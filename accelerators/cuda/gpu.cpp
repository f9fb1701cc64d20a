// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/gpu.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <cstdlib>

#include "accelerators/accelerator.h"

namespace trainyard::cuda {
namespace {

/// Makes the device current for this thread.
c10::DeviceIndex made_current(int index) {
  // cuBLAS refuses to be deterministic without it, and reads it when it is first used.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  const auto device = static_cast<c10::DeviceIndex>(index);
  c10::cuda::set_device(device);
  return device;
}

}  // namespace

/// The streams of a pool have a priority each: batches are small and should not queue behind kernels.
Gpu::Gpu(const Accelerator& cuda, int index)
    : ClaimedDevice(cuda, at::Device(at::kCUDA, made_current(index))),
      compute_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, torch_device().index())),
      copies_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, torch_device().index())) {
  c10::cuda::setCurrentCUDAStream(compute_);
  // The allocator knows its devices from the first allocation on; stats() asks it.
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
    // LibTorch's pool of pinned memory gives a block out again only when the copies from it are done.
    at::Tensor pinned = at::empty(tensor.sizes(), tensor.options().pinned_memory(true));
    pinned.copy_(tensor);
    tensor = pinned.to(torch_device(), /*non_blocking=*/true);
    // Made on one stream, used on another: its memory must not be reused before the latter is done with it.
    c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), compute_);
  }
  at::cuda::CUDAEvent arrived;
  arrived.record(copies_);
  arrived.block(compute_);
  return tensors;
}

/// Kernels that come later on the stream wait for what goes to the device, and the host's copy is not written again
/// before the next block has come back, which does wait.
void Gpu::copy_block(at::Tensor to, const at::Tensor& from) { to.copy_(from, /*non_blocking=*/to.is_cuda()); }

void Gpu::synchronize() { c10::cuda::device_synchronize(); }

/// Without it copies are slower and nothing else: a limit on locked memory is no reason to stop.
void Gpu::prepare_host_block(const Buffer& block) {
  if (cudaHostRegister(block.data(), block.size(), cudaHostRegisterDefault) == cudaSuccess) {
    locked_.push_back(block);
    return;
  }
  cudaGetLastError();  // Takes the error away, so that no later call reports it.
  context().log->warn("{}: {} bytes of the arena's mirror cannot be page-locked; its copies will be slower",
                      context().where, block.size());
}

std::map<std::string, double> Gpu::stats() const {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(torch_device().index());
  constexpr std::size_t kAll = 0;  // Pools of small and of large blocks together.
  return {{"memory_bytes", static_cast<double>(stats.allocated_bytes[kAll].current)},
          {"peak_memory_bytes", static_cast<double>(stats.allocated_bytes[kAll].peak)},
          {"reserved_bytes", static_cast<double>(stats.reserved_bytes[kAll].current)}};
}

}  // namespace trainyard::cuda
