// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "messages/error.h"

namespace trainyard::test_device {
namespace {

std::byte* map(const core::MemoryFile& file, std::size_t bytes, int protection) {
  void* address = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, file.fd(), 0);
  if (address == MAP_FAILED) {
    throw Error(Code::kIo, "the test device cannot map {} bytes: {}", bytes, std::strerror(errno));
  }
  return static_cast<std::byte*>(address);
}

std::size_t in_pages(std::size_t bytes) {
  constexpr std::size_t kGrain = Memory::kGrain;
  return std::max(kGrain, (bytes + kGrain - 1) / kGrain * kGrain);
}

}  // namespace

std::shared_ptr<Memory> Memory::make(std::size_t bytes) {
  const std::size_t whole = in_pages(bytes);
  return std::shared_ptr<Memory>(new Memory(core::MemoryFile::make(whole), whole));
}

std::shared_ptr<Memory> Memory::open(const SharedHandle& handle) {
  return std::shared_ptr<Memory>(new Memory(core::MemoryFile::open(handle), handle.segment_bytes));
}

Memory::Memory(core::MemoryFile file, std::size_t bytes) : file_(std::move(file)), bytes_(bytes) {
  protected_ = map(file_, bytes_, PROT_NONE);
  try {
    window_ = map(file_, bytes_, PROT_READ | PROT_WRITE);
  } catch (...) {
    ::munmap(protected_, bytes_);
    throw;
  }
}

Memory::~Memory() {
  ::munmap(protected_, bytes_);
  ::munmap(window_, bytes_);
}

std::size_t Memory::take(std::size_t bytes, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (bytes <= bytes_) {
    const std::size_t needed = in_pages(bytes);
    std::size_t hole =
        0;  // The first hole that is large enough is good enough, because a run allocates its blocks only at the start.
    for (const auto& [offset, use] : uses_) {
      if (offset - hole >= needed) break;
      hole = offset + use.bytes;
    }
    if (hole <= bytes_ && bytes_ - hole >= needed) {
      uses_[hole] = {needed, what};
      return hole;
    }
  }
  throw Error(Code::kUnsupported, "the test device has no room for {} bytes of {}: {} of {} bytes are in use{}", bytes,
              what, used_bytes(), bytes_, holders());
}

void Memory::give_back(std::size_t offset) {
  const std::lock_guard lock(mutex_);
  const auto use = uses_.find(offset);
  // This returns the pages to the operating system, and the next block at this place reads as zeros.
  if (::fallocate(file_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(use->second.bytes)) != 0) {
    std::memset(window(offset), 0, use->second.bytes);
  }
  uses_.erase(use);
}

std::byte* Memory::window_of(const void* address) const {
  const auto distance = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(protected_);
  return distance < bytes_ ? window_ + distance : nullptr;
}

std::size_t Memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_bytes();
}

std::size_t Memory::used_bytes() const {
  std::size_t sum = 0;
  for (const auto& [offset, use] : uses_) sum += use.bytes;
  return sum;
}

/// Returns a list of the ranges in use for error messages, with the largest first.
std::string Memory::holders() const {
  std::vector<Use> all;
  for (const auto& [offset, use] : uses_) all.push_back(use);
  std::ranges::stable_sort(all, std::greater<>(), &Use::bytes);
  std::string text;
  for (const Use& use : all) text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", use.what, use.bytes);
  return text;
}

}  // namespace trainyard::test_device
