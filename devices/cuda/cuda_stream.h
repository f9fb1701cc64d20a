// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "devices/stream.h"

namespace trainyard::cuda_device {

class CudaDevice;

/// A stream of a GPU. An event is recorded after every operation, so the stream knows which operations are done.
/// Whenever an operation is submitted, the stream releases the memory of those that are done.
class CudaStream final : public devices::Stream {
 public:
  /// `owned` says whether the destructor destroys `stream`.
  CudaStream(CudaDevice& device, std::string name, cudaStream_t stream, bool owned);
  /// Waits for the submitted operations. If they are not done within a few seconds, for instance because another
  /// process has ended before it signalled a fence, everything that they use is kept until this process ends.
  ~CudaStream() override;

  void drain(std::chrono::milliseconds limit) override;

  using Kept = std::vector<std::shared_ptr<const void>>;
  /// Submits an operation, such as a kernel. `launch` is called with the stream while the GPU is the current one; it
  /// must submit the operation and return CUDA's result. `function` is the name of the CUDA function that `launch`
  /// calls, and `what` the name of the operation; both are for errors, and `what` must be a string literal. `kept` is
  /// kept until the operation is done.
  void submit(const char* what, const char* function, Kept kept,
              const std::function<cudaError_t(cudaStream_t)>& launch);

 protected:
  void submit_to_device(const devices::Region& to, const devices::HostRegion& from, devices::Purpose purpose) override;
  void submit_to_host(const devices::HostRegion& to, const devices::Region& from, devices::Purpose purpose) override;
  void submit_copy(const devices::Region& to, const devices::Region& from) override;
  void submit_zero(const devices::Region& region) override;
  void submit_signal(std::shared_ptr<devices::Fence> fence, std::uint64_t value) override;
  void submit_wait(std::shared_ptr<devices::Fence> fence, std::uint64_t value) override;
  void submit_call(std::function<void()> callback) override;

 private:
  struct Operation {
    const char* what = "";
    Kept kept;
    cudaEvent_t done = nullptr;
  };

  CudaDevice& cuda_device() const;
  void check(cudaError_t result, const char* function, const char* what) const;
  cudaEvent_t event();
  void record(const char* what, Kept kept);
  void release_done();

  cudaStream_t stream_;
  bool owned_;
  std::deque<Operation> operations_;  ///< The operations that were not done at the last check.
  std::vector<cudaEvent_t> events_;   ///< Events that can be used again.
};

}  // namespace trainyard::cuda_device
