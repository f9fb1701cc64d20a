// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_pool.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/memory/memory_file.h"
#include "core/memory/segment.h"
#include "messages/error.h"

namespace trainyard::core {

// The life of a segment: allocate() makes a segment if none of the required size is free. The segment is in use while
// this process or, according to the counters in its first page, another process holds a reference. After that it is
// free, and can be reused. allocate() always takes the first free segment, so a steady stream of allocations uses the
// same few segments. A segment that stays free although others are allocated is therefore surplus, and trim() returns
// it to the system.

/// The segments of a pool. Each is free, in use by this process, or still in use by readers in other processes.
struct SharedPool::Impl {
  struct Segment {
    MemoryFile file;
    SharedHandle handle;  ///< The handle of the whole segment.
    Mapping mapping;
    bool in_use = false;       ///< True while this process uses it.
    std::uint64_t taken = 0;   ///< The number of the allocation that used it last.
    std::uint32_t idle = 0;    ///< The number of consecutive calls of trim() that have found it free and unused.
    std::uint64_t looked = 0;  ///< `taken` at the last trim().

    explicit Segment(std::size_t bytes)
        : file(MemoryFile::make(bytes)), handle(file.handle()), mapping(file.fd(), bytes, true) {}
    SegmentHeader& header() { return *reinterpret_cast<SegmentHeader*>(mapping.data()); }
  };

  std::mutex mutex;
  std::vector<std::unique_ptr<Segment>> segments;   ///< Counted segments, which are used again.
  std::vector<std::unique_ptr<Segment>> permanent;  ///< Segments from allocate_permanent().
  std::uint64_t allocations = 0;
  std::map<std::uint32_t, pid_t> readers;  ///< The processes that were admitted, by index.

  // Returns the first free segment of exactly this size, or makes one. The list has only a few dozen segments. The
  // counters of readers are checked here, when memory is needed, so readers need not notify the pool when they have
  // finished.
  Segment& take(std::size_t bytes) {
    for (auto& segment : segments) {
      if (!segment->in_use && segment->mapping.size() == bytes && segment->header().free()) return use(*segment);
    }
    segments.push_back(std::make_unique<Segment>(bytes));
    return use(*segments.back());
  }

  Segment& use(Segment& segment) {
    segment.in_use = true;
    segment.taken = ++allocations;
    return segment;
  }

  // The dead process counts as having returned all references, however many it held.
  void forget(std::uint32_t reader) {
    for (auto& segment : segments) {
      SegmentHeader& header = segment->header();
      header.returned[reader].store(header.lent[reader].load(std::memory_order_relaxed), std::memory_order_release);
    }
  }

  // Returns true if the segment is surplus. A slow stream must keep its segments, so it matters not only how long a
  // segment has been free, but also how many allocations were made in this time.
  bool surplus(Segment& segment) const {
    constexpr std::uint64_t kManyAllocations = 64;
    constexpr std::uint32_t kShort = 2, kLong = 60;
    const bool idle = !segment.in_use && segment.taken == segment.looked && segment.header().free();
    segment.looked = segment.taken;
    segment.idle = idle ? segment.idle + 1 : 0;
    return segment.idle >= kLong || (segment.idle >= kShort && allocations - segment.taken >= kManyAllocations);
  }
};

SharedPool::SharedPool() : impl_(std::make_shared<Impl>()) {}

SharedPool::~SharedPool() = default;

Buffer SharedPool::allocate(std::size_t bytes) {
  // Sizes are powers of two, so that batches of slightly different size share segments.
  const std::size_t segment_bytes = std::bit_ceil(std::max(bytes, kPage)) + SegmentHeader::kBytes;
  const std::lock_guard lock(impl_->mutex);
  Impl::Segment& segment = impl_->take(segment_bytes);
  // The deleter runs when this process has released the buffer. Readers in other processes have separate counters,
  // which take() checks.
  std::shared_ptr<void> owner(segment.mapping.data(), [impl = impl_, &segment](void*) {
    const std::lock_guard release(impl->mutex);
    segment.in_use = false;
  });
  SharedHandle handle = segment.handle;
  handle.offset = SegmentHeader::kBytes;
  handle.bytes = bytes;
  handle.counted = 1;
  return {std::move(owner), segment.mapping.data() + SegmentHeader::kBytes, bytes, handle};
}

Buffer SharedPool::allocate_permanent(std::size_t bytes) {
  // The segment is only as large as needed (in whole pages) and has no page for counters, because it is never reused,
  // and its size may be gigabytes.
  const std::size_t segment_bytes = (std::max<std::size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
  const std::lock_guard lock(impl_->mutex);
  impl_->permanent.push_back(std::make_unique<Impl::Segment>(segment_bytes));
  Impl::Segment& segment = *impl_->permanent.back();
  std::shared_ptr<void> owner(segment.mapping.data(), [impl = impl_](void*) {});  // The owner keeps the mapping alive.
  SharedHandle handle = segment.handle;
  handle.bytes = bytes;
  return {std::move(owner), segment.mapping.data(), bytes, handle};
}

void SharedPool::lend(const Buffer& buffer, std::uint32_t reader) {
  const SharedHandle& handle = buffer.shared().value();
  if (handle.counted == 0) return;
  if (reader >= kMaxProcesses) {
    throw Error(Code::kUnsupported, "process number {} cannot share buffers; at most {} processes", reader,
                kMaxProcesses);
  }
  // Relaxed order is enough, because the message that carries the handle establishes the order between this addition
  // and the reader's accesses.
  auto* header = reinterpret_cast<SegmentHeader*>(buffer.data() - handle.offset);
  header->lent[reader].fetch_add(1, std::memory_order_relaxed);
}

void SharedPool::admit(std::uint32_t reader, pid_t pid) {
  if (reader >= kMaxProcesses || pid <= 0) return;
  const std::lock_guard lock(impl_->mutex);
  pid_t& known = impl_->readers[reader];
  if (std::exchange(known, pid) != pid) impl_->forget(reader);
}

// The launcher's message that a process has died can arrive after a restarted process has subscribed and has been
// admitted in its place. The pids distinguish the two.
void SharedPool::forget(std::uint32_t reader, pid_t dead) {
  if (reader >= kMaxProcesses) return;
  const std::lock_guard lock(impl_->mutex);
  const auto known = impl_->readers.find(reader);
  if (known == impl_->readers.end() || dead <= 0 || known->second == dead) impl_->forget(reader);
}

void SharedPool::trim() {
  // The surplus segments are declared before the lock, so they are unmapped after it is released. Unmapping takes time,
  // in which another thread may need memory.
  std::vector<std::unique_ptr<Impl::Segment>> surplus;
  const std::lock_guard lock(impl_->mutex);
  for (auto& segment : impl_->segments) {
    if (impl_->surplus(*segment)) surplus.push_back(std::move(segment));
  }
  std::erase(impl_->segments, nullptr);
}

std::size_t SharedPool::reserved_bytes() const {
  const std::lock_guard lock(impl_->mutex);
  std::size_t bytes = 0;
  for (const auto& segment : impl_->segments) bytes += segment->mapping.size();
  for (const auto& segment : impl_->permanent) bytes += segment->mapping.size();
  return bytes;
}

}  // namespace trainyard::core
