#include "components/checkpoint_writer/state_layout.h"

#include <algorithm>

#include "messages/error.h"

namespace trainyard {

// The arena knows blocks and offsets, a checkpoint knows named tensors; this is the map from one to the other. It is
// made once, so a snapshot is nothing but copies of whole blocks.

namespace {

constexpr const char* kParameters = "parameters";
constexpr const char* kGradients = "gradients";

/// Index of the block that holds the entry.
std::size_t block_named(const std::vector<ArenaBlock>& blocks, const ArenaEntry& entry) {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.name == entry.block; });
  if (found == blocks.end())
    throw Error(Code::kCorrupt, "tensor '{}' is in an unknown block '{}'", entry.name, entry.block);
  return static_cast<std::size_t>(found - blocks.begin());
}

/// The messages come from other components; a slice beyond its block would be read past the end of shared memory.
void check_inside(const StateSlice& slice, const Tensor& block) {
  const std::size_t size = block.bytes();
  if (slice.offset <= size && slice.bytes <= size - slice.offset) return;
  throw Error(Code::kCorrupt, "tensor '{}' of shape {} at byte {} does not fit a block of {} bytes", slice.name,
              to_text(slice.shape), slice.offset, size);
}

/// Gradients are not saved, but they keep their place, so that indexes of blocks stay those of the arena.
void add_model(StateLayout& layout, const ArenaInfo& arena) {
  for (const ArenaBlock& block : arena.blocks)
    layout.blocks.push_back(block.name == kGradients ? Tensor{.shape = {0}} : block.data);
  for (const ArenaEntry& entry : arena.entries) {
    // They are zero between two steps, and nothing in a resumed run depends on them.
    if (entry.block == kGradients) continue;
    const auto dtype = static_cast<DType>(entry.dtype);
    StateSlice slice{entry.name,         dtype,
                     entry.shape,        block_named(arena.blocks, entry),
                     entry.offset_bytes, checked_bytes(dtype, entry.shape)};
    check_inside(slice, layout.blocks[slice.block]);
    layout.model.push_back(std::move(slice));
  }
}

/// State laid out like the parameters is cut like them, element for element (its dtype may be another). Anything else,
/// such as a few counters, stays one tensor with the block's name.
void add_state(StateLayout& layout, const ArenaInfo& arena, const ArenaBlock& state) {
  const std::size_t index = layout.blocks.size();
  layout.blocks.push_back(state.data);
  const auto parameters =
      std::find_if(arena.blocks.begin(), arena.blocks.end(), [](const auto& b) { return b.name == kParameters; });
  if (parameters == arena.blocks.end() || parameters->data.elements() != state.data.elements()) {
    layout.optimizer.push_back({state.name, state.data.dtype, state.data.shape, index, 0, state.data.bytes()});
    return;
  }
  for (const ArenaEntry& entry : arena.entries) {
    if (entry.block != kParameters) continue;
    // Offsets in elements carry over between dtypes, offsets in bytes do not.
    const std::size_t element = entry.offset_bytes / size_of(static_cast<DType>(entry.dtype));
    StateSlice slice{state.name + "/" + entry.name,
                     state.data.dtype,
                     entry.shape,
                     index,
                     element * size_of(state.data.dtype),
                     checked_bytes(state.data.dtype, entry.shape)};
    check_inside(slice, state.data);
    layout.optimizer.push_back(std::move(slice));
  }
}

}  // namespace

std::size_t StateLayout::bytes() const {
  std::size_t total = 0;
  for (const Tensor& block : blocks) total += block.bytes();
  return total;
}

// The model's blocks first, in the order of the arena: the indices of its entries count on it.
StateLayout make_state_layout(const ArenaInfo& arena, const OptimizerState* state) {
  StateLayout layout;
  add_model(layout, arena);
  if (state != nullptr) {
    for (const ArenaBlock& block : state->blocks) add_state(layout, arena, block);
  }
  return layout;
}

}  // namespace trainyard
