// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/shared_memory/transfers.h"
#include "core/memory/shared_pool.h"

namespace trainyard::shared_memory {

/// Transfers the data of collective operations through shared memory. The method depends on the number of elements, and
/// on whether they are in memory that all members have mapped; see transfers.h.
class SharedTransport final : public collectives::Transport {
 public:
  /// Operations that work in place are divided into chunks, each of which is processed by one member. `chunk_bytes` is
  /// the maximum size of a chunk.
  SharedTransport(Group& group, Blocks& blocks, std::uint64_t chunk_bytes)
      : group_(group), blocks_(blocks), chunk_bytes_(chunk_bytes) {}

  std::unique_ptr<Transfer> begin(const Operation& operation) override;
  Buffer allocate(std::size_t bytes) override { return pool_.allocate_permanent(bytes); }
  bool maps_memory() const override { return true; }
  void map(const Buffer& own, std::span<const SharedHandle> handles) override;

 private:
  const Descriptor& descriptor_of(std::uint32_t member, const Operation& operation) const;
  std::vector<std::byte*> find_places(const Operation& operation) const;

  Group& group_;
  Blocks& blocks_;
  const std::uint64_t chunk_bytes_;
  const KernelSet& kernels_ = best_kernels();
  std::vector<const void*> scratch_;  ///< Memory that small operations reuse.
  core::SharedPool pool_;
};

/// Transfers messages (send and recv) between two members through ring buffers in shared memory.
class RingMessages final : public collectives::Transport {
 public:
  RingMessages(Group& group, const Blocks& blocks, std::vector<std::uint32_t> ranks)
      : group_(group), blocks_(blocks), ranks_(std::move(ranks)) {}

  std::unique_ptr<Transfer> begin(const Operation& operation) override;

 private:
  Group& group_;
  const Blocks& blocks_;
  const std::vector<std::uint32_t> ranks_;
};

}  // namespace trainyard::shared_memory
