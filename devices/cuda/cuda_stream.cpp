// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_stream.h"

#include <fmt/format.h>

#include <utility>

#include "devices/cuda/calls.h"
#include "devices/cuda/cuda_device.h"
#include "devices/cuda/host_fence.h"
#include "devices/cuda/polling.h"
#include "messages/error.h"

namespace trainyard::cuda_device {
namespace {

using devices::HostRegion;
using devices::Purpose;
using devices::Region;

constexpr std::chrono::milliseconds kLastWait{5'000};

const HostFence& host_fence(const devices::Fence& fence) {
  if (const auto* own = dynamic_cast<const HostFence*>(&fence)) return *own;
  throw Error(Code::kInternal, "a stream of a CUDA device was given {}", "a fence of another kind of device");
}

/// Called on a thread of the driver.
void CUDART_CB call(void* callback) {
  const std::unique_ptr<std::function<void()>> function(static_cast<std::function<void()>*>(callback));
  (*function)();
}

}  // namespace

CudaStream::CudaStream(CudaDevice& device, std::string name, cudaStream_t stream, bool owned)
    : Stream(device, std::move(name)), stream_(stream), owned_(owned) {}

CudaStream::~CudaStream() {
  try {
    drain(kLastWait);
  } catch (const Error&) {
    // Nobody can be told any more; whoever wanted to know has called drain().
  }
  if (!operations_.empty()) {
    cuda_device().abandon();
    static_cast<void>(new std::deque<Operation>(std::move(operations_)));  // Kept until the process ends.
    return;
  }
  for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  if (owned_) cudaStreamDestroy(stream_);
}

CudaDevice& CudaStream::cuda_device() const { return static_cast<CudaDevice&>(device()); }

/// An error of CUDA can be that of any earlier operation of this process.
void CudaStream::check(cudaError_t result, const char* function, const char* what) const {
  if (result == cudaSuccess) return;
  cuda_device::check(result, function, fmt::format("'{}' on stream '{}' of {}", what, name(), cuda_device().name()));
}

cudaEvent_t CudaStream::event() {
  cudaEvent_t event = nullptr;
  if (events_.empty()) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags", "event");
  } else {
    event = events_.back();
    events_.pop_back();
  }
  return event;
}

void CudaStream::record(const char* what, Kept kept) {
  operations_.push_back({what, std::move(kept), event()});
  check(cudaEventRecord(operations_.back().done, stream_), "cudaEventRecord", what);
}

void CudaStream::release_done() {
  while (!operations_.empty()) {
    const cudaError_t result = cudaEventQuery(operations_.front().done);
    if (result == cudaErrorNotReady) {
      cudaGetLastError();
      return;
    }
    check(result, "cudaEventQuery", operations_.front().what);
    events_.push_back(operations_.front().done);
    operations_.pop_front();
  }
}

void CudaStream::submit(const char* what, const char* function, Kept kept,
                        const std::function<cudaError_t(cudaStream_t)>& launch) {
  const CurrentGpu current(cuda_device().gpu());
  release_done();
  check(launch(stream_), function, what);
  record(what, std::move(kept));
}

/// An operation that others have submitted to an adopted stream is waited for, too.
void CudaStream::drain(std::chrono::milliseconds limit) {
  const CurrentGpu current(cuda_device().gpu());
  record("the last operation", {});
  const bool done = poll_until(
      [this] {
        release_done();
        return operations_.empty();
      },
      limit);
  if (done) return;
  throw Error(Code::kTimeout, "stream '{}' is not done within {} ms: '{}' is under way, and {} operations wait", name(),
              limit.count(), operations_.front().what, operations_.size() - 1);
}

void CudaStream::submit_to_device(const Region& to, const HostRegion& from, Purpose /*purpose*/) {
  cuda_device().page_locks().lock(from.buffer());
  submit("to device", "cudaMemcpyAsync", {to.owner(), from.buffer().owner()}, [&](cudaStream_t stream) {
    return cudaMemcpyAsync(to.address(), from.data(), to.bytes(), cudaMemcpyHostToDevice, stream);
  });
}

void CudaStream::submit_to_host(const HostRegion& to, const Region& from, Purpose /*purpose*/) {
  cuda_device().page_locks().lock(to.buffer());
  submit("to host", "cudaMemcpyAsync", {from.owner(), to.buffer().owner()}, [&](cudaStream_t stream) {
    return cudaMemcpyAsync(to.data(), from.address(), from.bytes(), cudaMemcpyDeviceToHost, stream);
  });
}

void CudaStream::submit_copy(const Region& to, const Region& from) {
  submit("copy", "cudaMemcpyAsync", {to.owner(), from.owner()}, [&](cudaStream_t stream) {
    return cudaMemcpyAsync(to.address(), from.address(), to.bytes(), cudaMemcpyDeviceToDevice, stream);
  });
}

void CudaStream::submit_zero(const Region& region) {
  submit("zero", "cudaMemsetAsync", {region.owner()},
         [&](cudaStream_t stream) { return cudaMemsetAsync(region.address(), 0, region.bytes(), stream); });
}

void CudaStream::submit_signal(std::shared_ptr<devices::Fence> fence, std::uint64_t value) {
  const std::uint64_t address = host_fence(*fence).address();
  submit("signal", "cuStreamWriteValue64", {std::move(fence)}, [&](cudaStream_t stream) {
    cuda_device().driver().write(stream, address, value);
    return cudaSuccess;
  });
}

void CudaStream::submit_wait(std::shared_ptr<devices::Fence> fence, std::uint64_t value) {
  const std::uint64_t address = host_fence(*fence).address();
  submit("wait", "cuStreamWaitValue64", {std::move(fence)}, [&](cudaStream_t stream) {
    cuda_device().driver().wait(stream, address, value);
    return cudaSuccess;
  });
}

void CudaStream::submit_call(std::function<void()> callback) {
  auto owned = std::make_unique<std::function<void()>>(std::move(callback));
  submit("call", "cudaLaunchHostFunc", {}, [&](cudaStream_t stream) {
    const cudaError_t result = cudaLaunchHostFunc(stream, &call, owned.get());
    if (result == cudaSuccess) owned.release();
    return result;
  });
}

}  // namespace trainyard::cuda_device
