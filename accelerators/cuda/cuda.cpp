#include "accelerators/cuda/cuda.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <cstdlib>

#include "accelerators/generator.h"

namespace trainyard {

std::string Cuda::problem() const { return is_available() ? "" : "the CUDA driver finds no device"; }

int Cuda::device_count() const { return c10::cuda::device_count(); }

AcceleratorTraits Cuda::traits() const { return {.precisions = {"32-true"}, .host_memory = false, .auto_rank = 100}; }

/// The streams of a pool have a priority each: batches are small and should not queue behind kernels.
void Cuda::set_up(int index) {
  // cuBLAS refuses to be deterministic without it, and reads it when it is first used.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  const auto device = static_cast<c10::DeviceIndex>(index);
  c10::cuda::set_device(device);
  compute_ = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device);
  copies_ = c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device);
  c10::cuda::setCurrentCUDAStream(*compute_);
  // The allocator knows its devices from the first allocation on; stats() asks it.
  at::empty({0}, at::TensorOptions().device(at::kCUDA, device));
}

void Cuda::tear_down() {
  for (const Buffer& buffer : locked_) cudaHostUnregister(buffer.data());
  locked_.clear();
}

std::vector<at::Generator> Cuda::generators() const {
  return {at::detail::getDefaultCPUGenerator(), at::cuda::detail::getDefaultCUDAGenerator(claimed().index())};
}

void Cuda::seed(std::uint64_t seed) {
  for (const at::Generator& generator : generators()) seed_generator(generator, seed);
}

std::vector<std::uint8_t> Cuda::rng_state() const { return state_of_generators(generators()); }

void Cuda::set_rng_state(const std::vector<std::uint8_t>& state) { restore_generators(generators(), state, where()); }

std::vector<at::Tensor> Cuda::to_device(std::vector<at::Tensor> tensors) const {
  const c10::cuda::CUDAStreamGuard on_copies(*copies_);
  for (at::Tensor& tensor : tensors) {
    if (!tensor.is_cpu()) continue;
    // LibTorch's pool of pinned memory gives a block out again only when the copies from it are done.
    at::Tensor pinned = at::empty(tensor.sizes(), tensor.options().pinned_memory(true));
    pinned.copy_(tensor);
    tensor = pinned.to(claimed(), /*non_blocking=*/true);
    // Made on one stream, used on another: its memory must not be reused before the latter is done with it.
    c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), *compute_);
  }
  at::cuda::CUDAEvent arrived;
  arrived.record(*copies_);
  arrived.block(*compute_);
  return tensors;
}

/// To the device without waiting: kernels that come later on the stream wait for it, and the host's copy is not written
/// again before the next block has come back, which does wait.
void Cuda::copy_block(at::Tensor to, const at::Tensor& from) const { to.copy_(from, /*non_blocking=*/to.is_cuda()); }

void Cuda::synchronize() { c10::cuda::device_synchronize(); }

Buffer Cuda::allocate_arena(std::size_t bytes) {
  Buffer buffer = Accelerator::allocate_arena(bytes);
  // Without it copies are slower and nothing else: a limit on locked memory is no reason to stop.
  if (cudaHostRegister(buffer.data(), buffer.size(), cudaHostRegisterDefault) == cudaSuccess) {
    locked_.push_back(buffer);
  } else {
    cudaGetLastError();  // Takes the error away, so that no later call reports it.
    context().log->warn("{}: {} bytes of the arena's mirror cannot be page-locked; its copies will be slower", where(),
                        bytes);
  }
  return buffer;
}

std::map<std::string, double> Cuda::stats() const {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(claimed().index());
  constexpr std::size_t kAll = 0;  // Pools of small and of large blocks together.
  return {{"memory_bytes", static_cast<double>(stats.allocated_bytes[kAll].current)},
          {"peak_memory_bytes", static_cast<double>(stats.allocated_bytes[kAll].peak)},
          {"reserved_bytes", static_cast<double>(stats.reserved_bytes[kAll].current)}};
}

}  // namespace trainyard

TRAINYARD_ACCELERATOR(trainyard::Cuda, "cuda", "NVIDIA's GPUs.")
