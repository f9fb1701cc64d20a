// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_imports.h"

#include <unordered_map>

#include "core/memory/memory_file.h"
#include "core/memory/segment.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

/// The handle comes from another process, so the range that it describes must be inside the segment and outside of the
/// page of counters.
void check_range(const SharedHandle& handle) {
  const bool fits = handle.offset <= handle.segment_bytes && handle.bytes <= handle.segment_bytes - handle.offset;
  const bool header_fits = handle.counted == 0 || handle.offset >= SegmentHeader::kBytes;
  if (!fits || !header_fits) {
    throw Error(Code::kCorrupt, "shared buffer of {} bytes at offset {} does not fit its segment of {}", handle.bytes,
                handle.offset, handle.segment_bytes);
  }
}

}  // namespace

/// The cache of mappings. Its keys are inodes; an inode identifies a memfd as long as some process has the memfd open
/// or mapped.
struct SharedImports::Impl {
  struct Entry {
    std::shared_ptr<Mapping> mapping;
    std::uint64_t used = 0;  ///< The number of the open() that used it last.
    bool counted = false;
  };

  std::uint32_t self;
  std::uint64_t opened = 0;
  std::unordered_map<std::uint64_t, Entry> entries;

  const std::shared_ptr<Mapping>& map(const SharedHandle& handle) {
    if (++opened % kSweep == 0) forget_surplus();
    Entry& entry = entries[handle.inode];
    if (entry.mapping == nullptr || entry.mapping->size() != handle.segment_bytes) {
      entries.erase(handle.inode);
      const MemoryFile file = MemoryFile::open(handle);
      // The mapping is writable, because returning a reference is a write to the first page.
      auto mapping = std::make_shared<Mapping>(file.fd(), handle.segment_bytes, true);
      Entry& made = entries[handle.inode];
      made = {std::move(mapping), opened, handle.counted != 0};
      return made.mapping;
    }
    entry.used = opened;
    return entry.mapping;
  }

  // A mapping keeps the memory of its segment allocated, even if the owner has already returned the segment to the
  // system. A steady stream uses the same few segments again and again; mappings of other segments are surplus. A use
  // count of 1 means that only this cache refers to the mapping. Mappings of memory that is not counted are kept,
  // because a reader may have kept an address.
  void forget_surplus() {
    std::erase_if(entries, [this](const auto& each) {
      const Entry& entry = each.second;
      return entry.counted && entry.mapping.use_count() == 1 && opened - entry.used >= kUnused;
    });
  }

  static constexpr std::uint64_t kSweep = 64;
  static constexpr std::uint64_t kUnused = 256;
};

SharedImports::SharedImports(std::uint32_t self) : impl_(std::make_unique<Impl>()) { impl_->self = self; }

SharedImports::~SharedImports() = default;

Buffer SharedImports::open(const SharedHandle& handle) {
  check_range(handle);
  const std::shared_ptr<Mapping> mapping = impl_->map(handle);
  std::byte* data = mapping->data() + handle.offset;
  if (handle.counted == 0) return {mapping, data, handle.bytes, handle};
  // The release order ensures that all accesses of this process to the bytes happen before the owner reuses them.
  std::shared_ptr<void> owner(mapping->data(), [mapping, self = impl_->self](void* start) {
    static_cast<SegmentHeader*>(start)->returned[self].fetch_add(1, std::memory_order_release);
  });
  return {std::move(owner), data, handle.bytes, handle};
}

}  // namespace trainyard::core
