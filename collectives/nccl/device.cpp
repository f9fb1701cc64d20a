// SPDX-License-Identifier: Apache-2.0
#include "collectives/nccl/device.h"

#include "messages/error.h"

namespace trainyard::collectives {

void check_cuda(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw Error(Code::kIo, "{}: {}", what, cudaGetErrorString(result));
}

void check_nccl(ncclResult_t result, const char* what) {
  if (result != ncclSuccess && result != ncclInProgress)
    throw Error(Code::kIo, "{}: {}", what, ncclGetErrorString(result));
}

bool is_device_memory(const void* data) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();  // Clears the error that old versions of CUDA report for ordinary host memory.
    return false;
  }
  return attributes.type == cudaMemoryTypeDevice;
}

}  // namespace trainyard::collectives
