// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/shared_fence.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <utility>

#include "messages/error.h"

namespace trainyard::test_device {

/// The content of the shared memory. A futex has only 32 bits and the value has 64, so a separate 32-bit number counts
/// the changes of the value.
struct SharedFence::Page {
  std::atomic<std::uint64_t> value;
  std::atomic<std::uint32_t> changes;
};

std::shared_ptr<SharedFence> SharedFence::make() {
  return std::shared_ptr<SharedFence>(new SharedFence(core::MemoryFile::make(core::kPage)));
}

std::shared_ptr<SharedFence> SharedFence::open(const SharedHandle& handle) {
  if (handle.segment_bytes != core::kPage) {
    throw Error(Code::kCorrupt, "a fence has {} bytes, the handle says {}", core::kPage, handle.segment_bytes);
  }
  return std::shared_ptr<SharedFence>(new SharedFence(core::MemoryFile::open(handle)));
}

SharedFence::SharedFence(core::MemoryFile file) : file_(std::move(file)) {
  void* page = ::mmap(nullptr, core::kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
  if (page == MAP_FAILED) throw Error(Code::kIo, "cannot map a fence: {}", std::strerror(errno));
  page_ = static_cast<Page*>(page);
}

SharedFence::~SharedFence() { ::munmap(page_, core::kPage); }

std::uint64_t SharedFence::value() const { return page_->value.load(std::memory_order_acquire); }

void SharedFence::signal(std::uint64_t value) {
  std::uint64_t before = page_->value.load(std::memory_order_relaxed);
  do {
    if (before >= value) {
      throw Error(Code::kInternal, "a fence was signalled {} when its value was {}", value, before);
    }
  } while (!page_->value.compare_exchange_weak(before, value, std::memory_order_acq_rel, std::memory_order_relaxed));
  ++page_->changes;
  ::syscall(SYS_futex, &page_->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SharedFence::await(std::uint64_t value, std::chrono::milliseconds limit) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  // `changes` is read before the value. If the value changes in between, sleep_unless() notices it and returns.
  for (std::uint32_t seen = page_->changes; this->value() < value; seen = page_->changes) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw Error(Code::kTimeout, "a fence has not reached {} within {} ms; its value is {}", value, limit.count(),
                  this->value());
    }
    sleep_unless(seen);
  }
}

bool SharedFence::await(std::uint64_t value, const std::stop_token& stop) const {
  for (std::uint32_t seen = page_->changes; this->value() < value; seen = page_->changes) {
    if (stop.stop_requested()) return false;
    sleep_unless(seen);
  }
  return true;
}

/// Sleeps until the value changes. Returns immediately if the value has changed since `changes_seen` was read, and
/// returns after a while in any case, so that the caller can check its deadline.
void SharedFence::sleep_unless(std::uint32_t changes_seen) const {
  const std::timespec limit{.tv_sec = 0, .tv_nsec = 10'000'000};
  ::syscall(SYS_futex, &page_->changes, FUTEX_WAIT, changes_seen, &limit, nullptr, 0);
}

}  // namespace trainyard::test_device
