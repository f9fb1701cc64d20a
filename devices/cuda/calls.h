// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace trainyard::cuda_device {

/// Throws kInternal if `result` shows that a call to the CUDA runtime has failed. The error contains the name of the
/// called function (`function`), CUDA's explanation, and what the call was meant to do (`doing`). The runtime's record
/// of the error is cleared, so that no later call reports it.
void check(cudaError_t result, const char* function, std::string_view doing);

/// Makes a GPU the current one of the calling thread until the end of the scope. If this fails, the calls in the scope
/// fail, too, and report it.
class CurrentGpu {
 public:
  explicit CurrentGpu(int index) noexcept;
  ~CurrentGpu();
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  int before_ = -1;  ///< The GPU to return to; -1 if it was already the current one.
};

}  // namespace trainyard::cuda_device
