// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/host_fence.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "devices/cuda/calls.h"
#include "devices/cuda/polling.h"
#include "messages/error.h"

namespace trainyard::cuda_device {

/// The content of the shared memory.
struct HostFence::Page {
  std::atomic<std::uint64_t> value;
};

std::shared_ptr<HostFence> HostFence::make(int gpu) {
  return std::shared_ptr<HostFence>(new HostFence(core::MemoryFile::make(core::kPage), gpu));
}

std::shared_ptr<HostFence> HostFence::open(const SharedHandle& handle, int gpu) {
  if (handle.segment_bytes != core::kPage) {
    throw Error(Code::kCorrupt, "a fence has {} bytes, the handle says {}", core::kPage, handle.segment_bytes);
  }
  return std::shared_ptr<HostFence>(new HostFence(core::MemoryFile::open(handle), gpu));
}

HostFence::HostFence(core::MemoryFile file, int gpu) : file_(std::move(file)), gpu_(gpu) {
  void* page = ::mmap(nullptr, core::kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
  if (page == MAP_FAILED) throw Error(Code::kIo, "cannot map a fence: {}", std::strerror(errno));
  const CurrentGpu current(gpu_);
  try {
    check(cudaHostRegister(page, core::kPage, cudaHostRegisterMapped | cudaHostRegisterPortable), "cudaHostRegister",
          "to page-lock a fence");
    void* address = nullptr;
    check(cudaHostGetDevicePointer(&address, page, 0), "cudaHostGetDevicePointer", "to map a fence");
    address_ = reinterpret_cast<std::uint64_t>(address);
  } catch (...) {
    cudaHostUnregister(page);
    cudaGetLastError();
    ::munmap(page, core::kPage);
    throw;
  }
  page_ = static_cast<Page*>(page);
}

HostFence::~HostFence() {
  const CurrentGpu current(gpu_);
  cudaHostUnregister(page_);
  ::munmap(page_, core::kPage);
}

std::uint64_t HostFence::value() const { return page_->value.load(std::memory_order_acquire); }

void HostFence::signal(std::uint64_t value) {
  std::uint64_t before = page_->value.load(std::memory_order_relaxed);
  do {
    if (before >= value) {
      throw Error(Code::kInternal, "a fence was signalled {} when its value was {}", value, before);
    }
  } while (!page_->value.compare_exchange_weak(before, value, std::memory_order_acq_rel, std::memory_order_relaxed));
}

void HostFence::await(std::uint64_t value, std::chrono::milliseconds limit) const {
  if (poll_until([&] { return this->value() >= value; }, limit)) return;
  throw Error(Code::kTimeout, "a fence has not reached {} within {} ms; its value is {}", value, limit.count(),
              this->value());
}

}  // namespace trainyard::cuda_device
