// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>

namespace trainyard::collectives {

/// Throws kIo with CUDA's own text if `result` is an error. `what` names the call that returned `result`.
void check_cuda(cudaError_t result, const char* what);
/// Throws kIo with NCCL's own text if `result` is an error. `what` names the call that returned `result`.
void check_nccl(ncclResult_t result, const char* what);

/// Memory on the CUDA device that is current when the object is constructed. The destructor frees it. A
/// default-constructed object has no memory.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes) { check_cuda(cudaMalloc(&data_, bytes), "cudaMalloc"); }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// Returns true if `data` points to memory that the processor cannot access.
bool is_device_memory(const void* data);

}  // namespace trainyard::collectives
