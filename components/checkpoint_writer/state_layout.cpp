// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/state_layout.h"

#include <algorithm>

#include "components/checkpoint_writer/rank_parts.h"
#include "messages/error.h"

namespace trainyard {

// Training uses a few large blocks of memory, and a checkpoint contains named tensors. The layout maps tensors to
// ranges of blocks. It is made only once, so that a snapshot only copies whole blocks.

namespace {

/// Returns the index of the block that contains the tensor `entry`.
std::size_t block_named(const std::vector<ArenaBlock>& blocks, const ArenaEntry& entry) {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.name == entry.block; });
  if (found == blocks.end())
    throw Error(Code::kCorrupt, "tensor '{}' is in an unknown block '{}'", entry.name, entry.block);
  return static_cast<std::size_t>(found - blocks.begin());
}

/// Checks what other components have announced: a slice that extends beyond its block would make this process read
/// beyond the end of shared memory.
void check_inside(const StateSlice& slice, std::size_t size) {
  if (slice.offset <= size && slice.bytes <= size - slice.offset) return;
  throw Error(Code::kCorrupt, "tensor '{}' of shape {} at byte {} does not fit a block of {} bytes", slice.name,
              to_text(slice.shape), slice.offset, size);
}

/// A block of one rank, and its index on this rank.
struct RankBlock {
  const Tensor* data = nullptr;  ///< Null if the rank has no such block.
  BlockPlace place;

  std::size_t bytes() const { return data == nullptr ? 0 : data->bytes(); }
  StatePiece piece(std::size_t offset) const { return {*data, offset, place}; }
};

/// Returns the block `name` if every rank has the whole block. A rank may lack it. `shared` is true if all ranks use
/// the same memory.
StateBlock replicated_block(const std::vector<RankBlock>& of_ranks, const std::string& name, bool shared) {
  StateBlock block{of_ranks.front().bytes(), {of_ranks.front().piece(0)}, {}};
  for (std::size_t rank = 1; rank < of_ranks.size() && !shared; ++rank) {
    if (of_ranks[rank].bytes() == 0) continue;
    if (of_ranks[rank].bytes() != block.bytes) {
      throw Error(Code::kShapeMismatch, "rank {} has {} bytes of {}, rank 0 has {}; they must have the same", rank,
                  of_ranks[rank].bytes(), name, block.bytes);
    }
    block.replicas.push_back(of_ranks[rank].piece(0));
  }
  return block;
}

/// Returns the block that consists of the parts of all ranks, one after another. Its dtype may be wider than that of
/// the parameters.
StateBlock assembled_block(const std::vector<RankBlock>& of_ranks, const RankParts& parts) {
  const std::size_t width = size_of(of_ranks.front().data->dtype);
  StateBlock block{parts.whole / parts.element_bytes * width, {}, {}};
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    if (of_ranks[rank].bytes() == 0) continue;
    block.pieces.push_back(of_ranks[rank].piece(parts.begins[rank] / parts.element_bytes * width));
  }
  return block;
}

/// Returns the place of a rank's block of optimizer state. The indices of these blocks follow those of the blocks of
/// parameters, gradients and buffers.
BlockPlace state_place(const std::vector<RankState>& ranks, std::uint32_t rank, std::size_t index) {
  return {rank, static_cast<std::uint32_t>(ranks[rank].arena->blocks.size() + index)};
}

/// Makes the layout of a run step by step.
struct LayoutMaker {
  const std::vector<RankState>& ranks;
  RankParts parts = parts_of(ranks);
  StateLayout layout = {};

  const ArenaInfo& first() const { return *ranks.front().arena; }

  /// Adds the model's blocks in the order in which rank 0 has announced them, so that they keep their indices.
  void add_model() {
    for (const ArenaBlock& block : first().blocks) layout.blocks.push_back(model_block(block));
    for (const ArenaEntry& entry : first().entries) {
      // Gradients are not saved, because they are zero between two steps.
      if (entry.block == kGradients) continue;
      const auto dtype = static_cast<DType>(entry.dtype);
      StateSlice slice{entry.name,         dtype,
                       entry.shape,        block_named(first().blocks, entry),
                       entry.offset_bytes, checked_bytes(dtype, entry.shape)};
      check_inside(slice, layout.blocks[slice.block].bytes);
      layout.model.push_back(std::move(slice));
    }
  }

  StateBlock model_block(const ArenaBlock& block) const {
    if (block.name == kGradients) return {};
    std::vector<RankBlock> of_ranks;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      const std::vector<ArenaBlock>& blocks = ranks[rank].arena->blocks;
      const auto found = std::ranges::find(blocks, block.name, &ArenaBlock::name);
      const auto index = static_cast<std::uint32_t>(found - blocks.begin());
      of_ranks.push_back({found == blocks.end() ? nullptr : &found->data, {rank, index}});
    }
    if (block.name != kParameters || parts.replicated) {
      return replicated_block(of_ranks, block.name, first().shared_state && block.name == kParameters);
    }
    return assembled_block(of_ranks, parts);
  }

  /// Returns the optimizer's block at `index` of every rank.
  std::vector<RankBlock> state_of_ranks(std::size_t index) const {
    const ArenaBlock& mine = ranks.front().optimizer->blocks[index];
    std::vector<RankBlock> of_ranks;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      const std::vector<ArenaBlock>& blocks = ranks[rank].optimizer->blocks;
      if (index >= blocks.size() || blocks[index].name != mine.name || blocks[index].data.dtype != mine.data.dtype) {
        throw Error(Code::kShapeMismatch,
                    "the optimizer of rank {} has no {} '{}' as that of rank 0 has; all ranks "
                    "must have the same rule",
                    rank, name_of(mine.data.dtype), mine.name);
      }
      of_ranks.push_back({&blocks[index].data, state_place(ranks, rank, index)});
    }
    return of_ranks;
  }

  /// Returns true if, on every rank, the block has the same number of elements as the parameters.
  bool is_laid_out_like_parameters(const std::vector<RankBlock>& of_ranks) const {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const Tensor* parameters = find_block(ranks[rank].arena->blocks, kParameters);
      if (parameters == nullptr || parameters->elements() != of_ranks[rank].data->elements()) return false;
    }
    return true;
  }

  /// Adds a block of optimizer state. A block with the layout of the parameters is divided into one tensor for each
  /// parameter, even if its dtype differs. Any other block, such as a few counters, becomes one tensor with the block's
  /// name.
  void add_state(std::size_t index) {
    const std::vector<RankBlock> of_ranks = state_of_ranks(index);
    const std::string& name = ranks.front().optimizer->blocks[index].name;
    const Tensor& mine = *of_ranks.front().data;
    const std::size_t place = layout.blocks.size();
    const bool like_parameters = is_laid_out_like_parameters(of_ranks);
    layout.blocks.push_back(like_parameters && !parts.replicated
                                ? assembled_block(of_ranks, parts)
                                : replicated_block(of_ranks, name, first().shared_state));
    if (!like_parameters) {
      layout.optimizer.push_back({name, mine.dtype, mine.shape, place, 0, mine.bytes()});
      return;
    }
    for (const ArenaEntry& entry : first().entries) {
      if (entry.block != kParameters) continue;
      // The offset in elements is the same as for the parameter; the offset in bytes may differ.
      const std::size_t element = entry.offset_bytes / size_of(static_cast<DType>(entry.dtype));
      StateSlice slice{name + "/" + entry.name,
                       mine.dtype,
                       entry.shape,
                       place,
                       element * size_of(mine.dtype),
                       checked_bytes(mine.dtype, entry.shape)};
      check_inside(slice, layout.blocks[place].bytes);
      layout.optimizer.push_back(std::move(slice));
    }
  }
};

/// Adds the optimizer state of all ranks other than rank 0 whose state differs from that of rank 0.
void add_own_state(StateLayout& layout, const std::vector<RankState>& ranks) {
  for (std::uint32_t rank = 1; rank < ranks.size(); ++rank) {
    if (!ranks[rank].arena->own_state || ranks[rank].optimizer == nullptr) continue;
    const std::vector<ArenaBlock>& blocks = ranks[rank].optimizer->blocks;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const ArenaBlock& block = blocks[i];
      const std::size_t place = layout.blocks.size(), bytes = block.data.bytes();
      layout.blocks.push_back({bytes, {{block.data, 0, state_place(ranks, rank, i)}}, {}});
      layout.own.push_back({"rank" + std::to_string(rank) + "/optimizer/" + block.name, block.data.dtype,
                            block.data.shape, place, 0, bytes});
    }
  }
}

}  // namespace

std::size_t StateLayout::bytes() const {
  std::size_t total = 0;
  for (const StateBlock& block : blocks) total += block.bytes;
  return total;
}

bool StateLayout::has_remote_pieces() const {
  return std::ranges::any_of(
      blocks, [](const StateBlock& block) { return std::ranges::any_of(block.pieces, &StatePiece::is_remote); });
}

// The model's blocks come first, because add_model() relies on their indices.
StateLayout make_state_layout(const std::vector<RankState>& ranks) {
  LayoutMaker maker{ranks};
  maker.add_model();
  const OptimizerState* state = ranks.front().optimizer;
  for (std::size_t i = 0; state != nullptr && i < state->blocks.size(); ++i) maker.add_state(i);
  add_own_state(maker.layout, ranks);
  return std::move(maker.layout);
}

}  // namespace trainyard
