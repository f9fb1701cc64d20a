// SPDX-License-Identifier: Apache-2.0
#include "device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include "messages/error.h"

namespace xpu {

using trainyard::Code;
using trainyard::Error;

namespace {

std::byte* map(int file, int protection) {
  void* address = ::mmap(nullptr, DeviceMemory::kBytes, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (address == MAP_FAILED) {
    throw Error(Code::kIo, "xpu: cannot map {} bytes: {}", DeviceMemory::kBytes, std::system_category().message(errno));
  }
  return static_cast<std::byte*>(address);
}

std::size_t rounded(std::size_t bytes) {
  return std::max(DeviceMemory::kAlignment,
                  (bytes + DeviceMemory::kAlignment - 1) / DeviceMemory::kAlignment * DeviceMemory::kAlignment);
}

}  // namespace

DeviceMemory::DeviceMemory() : file_(::memfd_create("xpu", MFD_CLOEXEC)) {
  if (file_ < 0 || ::ftruncate(file_, kBytes) != 0) {
    throw Error(Code::kIo, "xpu: no memory: {}", std::system_category().message(errno));
  }
  device_ = map(file_, PROT_NONE);
  window_ = map(file_, PROT_READ | PROT_WRITE);
}

DeviceMemory::~DeviceMemory() {
  ::munmap(device_, kBytes);
  ::munmap(window_, kBytes);
  ::close(file_);
}

/// Allocates memory. A freed block is kept for the next request of the same size, because every step allocates the same
/// sizes.
void* DeviceMemory::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t>& waiting = free_[size];
  std::size_t offset = end_;
  if (!waiting.empty()) {
    offset = waiting.back();
    waiting.pop_back();
  } else if (size <= kBytes - end_) {
    end_ += size;
  } else {
    throw Error(Code::kUnsupported, "xpu: {} bytes do not fit; {} of {} are in use", bytes, use_.bytes, kBytes);
  }
  taken_[offset] = size;
  use_.bytes += size;
  use_.peak_bytes = std::max(use_.peak_bytes, use_.bytes);
  ++use_.allocations;
  return device_ + offset;
}

void DeviceMemory::give_back(void* device_address) {
  const std::lock_guard lock(mutex_);
  const auto taken = taken_.find(static_cast<std::size_t>(static_cast<std::byte*>(device_address) - device_));
  use_.bytes -= taken->second;
  free_[taken->second].push_back(taken->first);
  taken_.erase(taken);
}

bool DeviceMemory::contains(const void* address) const { return address >= device_ && address < device_ + kBytes; }

std::byte* DeviceMemory::window(const void* device_address) const {
  return window_ + (static_cast<const std::byte*>(device_address) - device_);
}

DeviceMemory::Use DeviceMemory::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

namespace {

/// Returns the memories of all devices. They are never destroyed, because LibTorch frees tensors until the very end of
/// a process.
std::array<DeviceMemory*, kDevices>& all() {
  static auto* devices = new std::array<DeviceMemory*, kDevices>{new DeviceMemory, new DeviceMemory};
  return *devices;
}

}  // namespace

DeviceMemory& memory_of(int device) { return *all().at(static_cast<std::size_t>(device)); }

DeviceMemory* memory_at(const void* address) {
  for (DeviceMemory* memory : all()) {
    if (memory->contains(address)) return memory;
  }
  return nullptr;
}

}  // namespace xpu
