#pragma once

#include <vector>

#include "collectives/shared_memory/control_block.h"
#include "core/memory/segment.h"
#include "messages/buffer.h"

namespace trainyard::shared_memory {

/// A run of memory that every member has, and that all have mapped.
struct Block {
  Buffer own;
  std::vector<core::Mapping> mappings;  ///< The other members' segments.
  std::vector<std::byte*> addresses;    ///< Where each member's memory lies in this process.
};

/// Maps the memory that the others' handles name. `handles` are in the order of the members, and `rank` is this one.
/// The pages are made at once, so that the first operation is no slower than the next ones. Throws what
/// MemoryFile::open throws.
Block map_block(const Buffer& own, const std::vector<SharedHandle>& handles, std::uint32_t rank);

/// The memory on which operations work in place. Every member adds the same blocks in the same order.
class Blocks {
 public:
  void add(Block block) { blocks_.push_back(std::move(block)); }

  /// Where these bytes of this member lie. The place is not registered if no block holds all of them.
  Place find(const void* data, std::size_t bytes) const;

  /// The same place in the memory of `member`; null if there is no such place, or if `bytes` do not fit there.
  std::byte* address(std::uint32_t member, const Place& place, std::size_t bytes) const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace trainyard::shared_memory
