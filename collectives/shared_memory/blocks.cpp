// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/blocks.h"

#include <sys/mman.h>

#include "core/memory/memory_file.h"

namespace trainyard::shared_memory {
namespace {

/// Brings the pages into memory. On a kernel that does not support this, they come when they are first accessed.
void populate(std::byte* data, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin = address / core::kPage * core::kPage;
  ::madvise(reinterpret_cast<void*>(begin), address + bytes - begin, MADV_POPULATE_WRITE);
#endif
}

}  // namespace

Block map_block(const Buffer& own, const std::vector<SharedHandle>& handles, std::uint32_t rank) {
  Block block{own, {}, {}};
  for (std::uint32_t member = 0; member < handles.size(); ++member) {
    if (member == rank) {
      block.addresses.push_back(own.data());
    } else {
      const SharedHandle& handle = handles[member];
      const core::MemoryFile file = core::MemoryFile::open(handle);
      block.mappings.emplace_back(file.fd(), handle.segment_bytes, true);
      block.addresses.push_back(block.mappings.back().data() + handle.offset);
    }
    populate(block.addresses.back(), own.size());
  }
  return block;
}

Place Blocks::find(const void* data, std::size_t bytes) const {
  const auto* wanted = static_cast<const std::byte*>(data);
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    const Buffer& own = blocks_[i].own;
    if (wanted >= own.data() && wanted + bytes <= own.data() + own.size()) {
      return {i, static_cast<std::uint64_t>(wanted - own.data())};
    }
  }
  return {};
}

std::byte* Blocks::address(std::uint32_t member, const Place& place, std::size_t bytes) const {
  if (place.block >= blocks_.size()) return nullptr;
  const Block& block = blocks_[place.block];
  if (place.offset > block.own.size() || bytes > block.own.size() - place.offset) return nullptr;
  return block.addresses[member] + place.offset;
}

}  // namespace trainyard::shared_memory
