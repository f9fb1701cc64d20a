// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/state_copy.h"

#include <cstring>

namespace trainyard {

void StateCopy::take(const StateLayout& layout, const Snapshot& snapshot) {
  // The layout is referred to, not copied, because it is made once and stays for the run.
  layout_ = &layout;
  snapshot_ = snapshot;
  blocks_.resize(layout.blocks.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const StateBlock& live = layout.blocks[i];
    // This happens only the first time, because the arena's blocks keep their size.
    if (blocks_[i].size() != live.bytes) blocks_[i] = Buffer::heap(live.bytes);
    for (const StatePiece& piece : live.pieces) {
      const std::size_t size = piece.data.bytes();
      if (size != 0) std::memcpy(blocks_[i].data() + piece.offset, piece.data.data(), size);
    }
  }
}

std::vector<checkpoints::SafetensorsTensor> StateCopy::tensors(const std::vector<StateSlice>& slices) const {
  std::vector<checkpoints::SafetensorsTensor> tensors;
  tensors.reserve(slices.size());
  for (const StateSlice& slice : slices) {
    const auto bytes = std::span<const std::byte>(blocks_[slice.block].bytes()).subspan(slice.offset, slice.bytes);
    tensors.push_back({slice.name, slice.dtype, slice.shape, bytes});
  }
  return tensors;
}

}  // namespace trainyard
