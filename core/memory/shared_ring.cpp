// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/memory/memory_file.h"
#include "messages/error.h"

namespace trainyard::core {

// The ring in memory:
//
//     control page | data | the same data, mapped a second time
//
// A record that begins near the end of the data continues in the second mapping, at which the beginning of the data
// appears again.

namespace {

/// The alignment of records, and the size of the length field that precedes each record.
constexpr std::size_t kAlignment = sizeof(std::uint64_t);

/// Returns the size of a record's data, rounded up to the alignment.
std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

/// The content of the first page. The members that one side writes are not on a cache line with members that the other
/// side writes. `written` and `read` count all bytes since the ring was made, so they never wrap around, and their
/// difference is the number of bytes in the ring.
struct SharedRing::Control {
  alignas(64) std::atomic<std::uint64_t> written;
  std::atomic<std::uint32_t> credit_wanted;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::atomic<std::uint64_t> returned_messages;
  std::atomic<std::uint64_t> returned_bytes;
};

SharedRing::SharedRing(int fd, const SharedHandle& handle) : capacity_(handle.segment_bytes - kPage), handle_(handle) {
  static_assert(sizeof(Control) <= kPage && std::atomic<std::uint64_t>::is_always_lock_free);
  // The whole address range is reserved first, so that the addresses for the second mapping of the data are certainly
  // free.
  void* place = ::mmap(nullptr, kPage + 2 * capacity_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw Error(Code::kIo, "cannot map a ring of {} bytes: {}", capacity_, std::strerror(errno));
  base_ = static_cast<std::byte*>(place);
  const auto map = [&](std::byte* where, std::size_t bytes, std::size_t offset) {
    return ::mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset));
  };
  if (map(base_, kPage + capacity_, 0) == MAP_FAILED ||
      map(base_ + kPage + capacity_, capacity_, kPage) == MAP_FAILED) {
    const int error = errno;
    ::munmap(base_, kPage + 2 * capacity_);
    throw Error(Code::kIo, "cannot map a ring of {} bytes: {}", capacity_, std::strerror(error));
  }
}

// `other` gets the values of an empty ring, without memory and without a descriptor.
SharedRing::SharedRing(SharedRing&& other) noexcept { *this = std::move(other); }

SharedRing& SharedRing::operator=(SharedRing&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(capacity_, other.capacity_);
  std::swap(fd_, other.fd_);
  std::swap(handle_, other.handle_);
  std::swap(reserved_, other.reserved_);
  return *this;
}

SharedRing::~SharedRing() {
  if (base_ != nullptr) ::munmap(base_, kPage + 2 * capacity_);
  if (fd_ >= 0) ::close(fd_);
}

// The capacity is a power of two, so that a mask turns a position into an offset, and at least a page, because only
// whole pages can be mapped twice.
SharedRing SharedRing::make(std::size_t capacity) {
  if (capacity < kPage || (capacity & (capacity - 1)) != 0) {
    throw Error(Code::kInvalidArgument, "a ring of {} bytes is not possible; a power of two from {} on", capacity,
                kPage);
  }
  MemoryFile file = MemoryFile::make(kPage + capacity);
  SharedRing ring(file.fd(), file.handle());
  ring.fd_ = file.release();
  return ring;
}

// The size in the handle is checked first; MemoryFile then compares it with the size of the file.
SharedRing SharedRing::open(const SharedHandle& handle) {
  const std::uint64_t capacity = handle.segment_bytes - kPage;
  if (handle.segment_bytes < 2 * kPage || (capacity & (capacity - 1)) != 0) {
    throw Error(Code::kCorrupt, "shared memory of {} bytes is not a ring", handle.segment_bytes);
  }
  const MemoryFile file = MemoryFile::open(handle);
  return {file.fd(), handle};
}

std::byte* SharedRing::data() const { return base_ + kPage; }

// A correct reader never reads beyond `written`. If a faulty reader did, `used` would be huge, and the result 0.
std::size_t SharedRing::room() const {
  const std::uint64_t used =
      control().written.load(std::memory_order_relaxed) - control().read.load(std::memory_order_acquire);
  return used + kAlignment > capacity_ ? 0 : capacity_ - used - kAlignment;
}

std::byte* SharedRing::reserve(std::size_t bytes) {
  // Relaxed order is enough, because only the writer changes `written`.
  std::byte* record = data() + (control().written.load(std::memory_order_relaxed) & (capacity_ - 1));
  const std::uint64_t length = bytes;
  std::memcpy(record, &length, sizeof length);
  reserved_ = kAlignment + padded(bytes);
  return record + kAlignment;
}

// The release order publishes the record: a reader that sees the new position also sees the bytes before it.
void SharedRing::commit() {
  control().written.store(control().written.load(std::memory_order_relaxed) + reserved_, std::memory_order_release);
}

bool SharedRing::empty() const {
  return control().written.load(std::memory_order_acquire) == control().read.load(std::memory_order_relaxed);
}

// Both positions are in memory that the other process can change, so they are checked.
std::span<const std::byte> SharedRing::front() const {
  const std::uint64_t read = control().read.load(std::memory_order_relaxed);
  const std::uint64_t used = control().written.load(std::memory_order_acquire) - read;
  if (used == 0) return {};
  const std::byte* record = data() + (read & (capacity_ - 1));
  std::uint64_t length = 0;
  std::memcpy(&length, record, sizeof length);
  if (used > capacity_ || used < kAlignment || length > used - kAlignment) {
    throw Error(Code::kCorrupt, "ring of {} bytes holds {} with a record of {}", capacity_, used, length);
  }
  return {record + kAlignment, length};
}

// The release order ensures that all reads of the record have happened before the writer can overwrite it.
void SharedRing::pop() {
  const std::uint64_t read = control().read.load(std::memory_order_relaxed);
  control().read.store(read + kAlignment + padded(front().size()), std::memory_order_release);
}

bool SharedRing::return_credit(std::uint64_t bytes) {
  // The bytes are counted first, so a writer that sees the new number of messages also sees their bytes.
  control().returned_bytes.fetch_add(bytes, std::memory_order_release);
  control().returned_messages.fetch_add(1, std::memory_order_release);
  return credit_wanted();
}

std::uint64_t SharedRing::returned_messages() const {
  return control().returned_messages.load(std::memory_order_acquire);
}

std::uint64_t SharedRing::returned_bytes() const { return control().returned_bytes.load(std::memory_order_acquire); }

// The writer stores the flag, executes a fence, and checks for room again; the reader adds, executes a fence, and
// checks the flag. As in Wakeup, at least one side therefore sees the change of the other.
void SharedRing::want_credit(bool wanted) {
  control().credit_wanted.store(wanted ? 1 : 0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

bool SharedRing::credit_wanted() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return control().credit_wanted.load(std::memory_order_relaxed) != 0;
}

}  // namespace trainyard::core
