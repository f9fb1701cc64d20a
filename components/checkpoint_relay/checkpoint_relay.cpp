// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_relay/checkpoint_relay.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "messages/error.h"

namespace trainyard {
namespace {

/// Returns the names, types and shapes of the blocks.
std::vector<RemoteBlock> describe(const std::vector<ArenaBlock>& blocks) {
  std::vector<RemoteBlock> described;
  for (const ArenaBlock& block : blocks) {
    described.push_back({block.name, static_cast<std::uint8_t>(block.data.dtype), block.data.shape});
  }
  return described;
}

}  // namespace

CheckpointRelay::CheckpointRelay(ComponentContext& context) : Component(context, kTraits) {}

// Forwards the announcements of the rank's memory without the blocks themselves, because over TCP the bytes of the
// blocks would be sent, too.
void CheckpointRelay::announce() {
  RemoteMemory memory;
  memory.arena_blocks = describe(arena_info_->blocks);
  memory.arena = *arena_info_;
  memory.arena.blocks.clear();
  if (optimizer_info_) {
    memory.has_optimizer = true;
    memory.optimizer_blocks = describe(optimizer_info_->blocks);
    memory.optimizer = *optimizer_info_;
    memory.optimizer.blocks.clear();
  }
  memory_.send(std::move(memory));
}

const Tensor& CheckpointRelay::block(std::uint32_t index) const {
  const std::size_t in_arena = arena_info_ ? arena_info_->blocks.size() : 0;
  if (index < in_arena) return arena_info_->blocks[index].data;
  const std::size_t in_optimizer = optimizer_info_ ? optimizer_info_->blocks.size() : 0;
  if (index - in_arena < in_optimizer) return optimizer_info_->blocks[index - in_arena].data;
  throw Error(Code::kCorrupt, "{}: block {} was asked for; rank {} has {}", where(), index, context().rank,
              in_arena + in_optimizer);
}

void CheckpointRelay::on_copy(const CopyMemory& request) {
  std::vector<std::pair<std::uint32_t, Buffer>> copied;
  for (const BlockPlace& place : request.blocks) {
    if (place.rank == context().rank) copied.emplace_back(place.block, copies_.copy(block(place.block)));
  }
  if (copied.empty()) return;
  // The answer is sent before the data, because training waits for it.
  copied_.send(MemoryCopied{.order = request.order, .rank = context().rank});
  for (const auto& [index, copy] : copied) send_block(request.order, index, copy);
}

void CheckpointRelay::send_block(std::uint64_t order, std::uint32_t index, const Buffer& copy) {
  for (std::size_t begin = 0; begin < copy.size(); begin += checkpoint_relay::kPieceBytes) {
    const std::size_t end = std::min(copy.size(), begin + checkpoint_relay::kPieceBytes);
    parts_.send(MemoryPart{.order = order,
                           .place = {context().rank, index},
                           .begin_bytes = begin,
                           .data = checkpoint_relay::piece_of(copy, begin, end)});
  }
}

void CheckpointRelay::on_restored(const RestoredMemory& piece) {
  const std::size_t bytes = piece.data.bytes();
  for (const BlockPlace& place : piece.places) {
    if (place.rank != context().rank || bytes == 0) continue;
    const Tensor& memory = block(place.block);
    if (bytes > memory.bytes() || piece.begin_bytes > memory.bytes() - bytes) {
      throw Error(Code::kCorrupt, "{}: {} bytes at byte {} do not fit block {}, which has {} bytes", where(), bytes,
                  piece.begin_bytes, place.block, memory.bytes());
    }
    std::memcpy(memory.data() + piece.begin_bytes, piece.data.data(), bytes);
  }
  if (piece.last) done_.send(MemoryRestored{.rank = context().rank});
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::CheckpointRelay, "checkpoint_relay",
                    "Carries the memory of a rank to and from a checkpoint writer on another host")
