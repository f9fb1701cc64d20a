// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "collectives/shared_memory/control_block.h"
#include "core/memory/segment.h"
#include "messages/buffer.h"

namespace trainyard::shared_memory {

/// The buffers that the members passed to Collective::use(), one from each member and all of the same size. Every
/// member has mapped all of them.
struct Block {
  Buffer own;
  std::vector<core::Mapping> mappings;  ///< The mapped buffers of the other members.
  std::vector<std::byte*> addresses;    ///< The address of each member's memory in this process.
};

/// Maps the memory of the other members. `handles` is indexed by member, and `rank` is the index of the calling member.
/// If the kernel supports it, all pages are also brought into memory, so that the first operation is as fast as later
/// ones. Throws what MemoryFile::open throws.
Block map_block(const Buffer& own, const std::vector<SharedHandle>& handles, std::uint32_t rank);

/// The blocks of memory on which operations work in place. All members add them in the same order, so a block has the
/// same number on every member.
class Blocks {
 public:
  void add(Block block) { blocks_.push_back(std::move(block)); }

  /// Returns which block of the calling member contains the `bytes` bytes at `data`, and at which offset. If no block
  /// contains all of them, Place::registered() of the result is false.
  Place find(const void* data, std::size_t bytes) const;

  /// Returns the address of `place` in the memory of `member`, or null if the place is not registered or fewer than
  /// `bytes` bytes follow in the block.
  std::byte* address(std::uint32_t member, const Place& place, std::size_t bytes) const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace trainyard::shared_memory
