// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/calls.h"

#include "messages/error.h"

namespace trainyard::cuda_device {

void check(cudaError_t result, const char* function, std::string_view doing) {
  if (result == cudaSuccess) return;
  cudaGetLastError();
  throw Error(Code::kInternal, "{}: {} failed: {} ({})", doing, function, cudaGetErrorString(result),
              cudaGetErrorName(result));
}

CurrentGpu::CurrentGpu(int index) {
  int before = -1;
  check(cudaGetDevice(&before), "cudaGetDevice", "the current GPU");
  if (before == index) return;
  check(cudaSetDevice(index), "cudaSetDevice", "to make a GPU the current one");
  before_ = before;
}

CurrentGpu::~CurrentGpu() {
  if (before_ >= 0) cudaSetDevice(before_);
}

}  // namespace trainyard::cuda_device
