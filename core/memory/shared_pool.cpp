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

// The life of a segment: the first allocate() of its size makes it. It is in use while this process has a reference,
// and read elsewhere while any counter in its first page is not zero. It is free when both have ended. One that stays
// free although others are allocated is surplus, and trim() returns it to the system: the first free segment is
// always taken, so a steady stream uses the same few, and what a burst has added is left over.

/// The segments of a pool. Each is free, in use here, or still read elsewhere.
struct SharedPool::Impl {
  struct Segment {
    MemoryFile file;
    SharedHandle handle;  ///< The handle of the whole segment.
    Mapping mapping;
    bool in_use = false;       ///< True while this process uses it.
    std::uint64_t taken = 0;   ///< The number of the allocation that used it last.
    std::uint32_t idle = 0;    ///< The calls of trim() in a row that have found it free and not used in between.
    std::uint64_t looked = 0;  ///< `taken` at the last trim().

    explicit Segment(std::size_t bytes)
        : file(MemoryFile::make(bytes)), handle(file.handle()), mapping(file.fd(), bytes, true) {}
    SegmentHeader& header() { return *reinterpret_cast<SegmentHeader*>(mapping.data()); }
  };

  std::mutex mutex;
  std::vector<std::unique_ptr<Segment>> segments;   ///< Counted segments, which are used again.
  std::vector<std::unique_ptr<Segment>> permanent;  ///< Segments of arenas.
  std::uint64_t allocations = 0;
  std::map<std::uint32_t, pid_t> readers;  ///< The processes that were admitted, by index.

  // Finds the first free segment of exactly this size in a list of a few dozen. Whether readers elsewhere are done is
  // checked here, when memory is wanted, so nobody has to tell the pool.
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

  // It does not matter how many references the dead process had: it counts as having returned them all.
  void forget(std::uint32_t reader) {
    for (auto& segment : segments) {
      SegmentHeader& header = segment->header();
      header.returned[reader].store(header.lent[reader].load(std::memory_order_relaxed), std::memory_order_release);
    }
  }

  // A slow stream must keep its segments, so time alone says little.
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
  // The segment is no longer in use when this process releases it. Readers elsewhere have their own counts, which
  // take() looks at.
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
  // The segment is exactly as large as needed and has no page for counters, because nobody else will use it and an
  // arena may be gigabytes.
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
  // Relaxed is enough: the message that carries the handle orders this before anything the reader does.
  auto* header = reinterpret_cast<SegmentHeader*>(buffer.data() - handle.offset);
  header->lent[reader].fetch_add(1, std::memory_order_relaxed);
}

void SharedPool::admit(std::uint32_t reader, pid_t pid) {
  if (reader >= kMaxProcesses || pid <= 0) return;
  const std::lock_guard lock(impl_->mutex);
  pid_t& known = impl_->readers[reader];
  if (std::exchange(known, pid) != pid) impl_->forget(reader);
}

// The launcher's message about a death can arrive after the successor's subscription, which has admitted the successor.
void SharedPool::forget(std::uint32_t reader, pid_t dead) {
  if (reader >= kMaxProcesses) return;
  const std::lock_guard lock(impl_->mutex);
  const auto known = impl_->readers.find(reader);
  if (known == impl_->readers.end() || dead <= 0 || known->second == dead) impl_->forget(reader);
}

void SharedPool::trim() {
  // They are unmapped without the lock, because that takes time and somebody may want memory meanwhile.
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
