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

CurrentGpu::CurrentGpu(int index) noexcept {
  int before = -1;
  if (cudaGetDevice(&before) == cudaSuccess && before == index) return;
  cudaSetDevice(index);
  before_ = before;
}

CurrentGpu::~CurrentGpu() {
  if (before_ >= 0) cudaSetDevice(before_);
}

}  // namespace trainyard::cuda_device
