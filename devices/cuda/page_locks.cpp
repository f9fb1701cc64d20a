// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/page_locks.h"

#include <cuda_runtime_api.h>

#include "core/memory/memory_file.h"
#include "devices/cuda/calls.h"

namespace trainyard::cuda_device {
namespace {

/// Returns true if the memory is page-locked, by this plugin or by others, such as LibTorch.
bool is_locked(const std::byte* data) {
  cudaPointerAttributes attributes{};
  const bool known = cudaPointerGetAttributes(&attributes, data) == cudaSuccess;
  cudaGetLastError();
  return known && attributes.type == cudaMemoryTypeHost;
}

void unlock(std::byte* data) {
  cudaHostUnregister(data);
  cudaGetLastError();
}

}  // namespace

PageLocks::~PageLocks() {
  const CurrentGpu current(gpu_);
  for (const auto& [data, buffer] : locked_) unlock(data);
}

void PageLocks::lock(const Buffer& buffer) {
  if (buffer.size() < core::kPage || buffer.owner() == nullptr) return;
  const CurrentGpu current(gpu_);
  if (is_locked(buffer.data())) return;
  const std::lock_guard lock(mutex_);
  release_unused();
  if (cudaHostRegister(buffer.data(), buffer.size(), cudaHostRegisterPortable) == cudaSuccess) {
    locked_.insert_or_assign(buffer.data(), buffer);
  } else {
    cudaGetLastError();
  }
}

void PageLocks::abandon() {
  const std::lock_guard lock(mutex_);
  locked_.clear();
}

void PageLocks::release_unused() {
  for (auto it = locked_.begin(); it != locked_.end();) {
    if (it->second.owner().use_count() > 1) {
      ++it;
      continue;
    }
    unlock(it->first);
    it = locked_.erase(it);
  }
}

}  // namespace trainyard::cuda_device
