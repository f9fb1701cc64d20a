// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/state_copy.h"

#include <cstring>
#include <iterator>
#include <utility>

#include "messages/error.h"

namespace trainyard {

void StateCopy::take(const StateLayout& layout, const Snapshot& snapshot) {
  // A pointer is enough, because the layout does not change during the run.
  layout_ = &layout;
  snapshot_ = snapshot;
  blocks_.resize(layout.blocks.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const StateBlock& live = layout.blocks[i];
    // Allocates memory only in the first call, because the sizes do not change.
    if (blocks_[i].size() != live.bytes) blocks_[i] = Buffer::heap(live.bytes);
    for (const StatePiece& piece : live.pieces) {
      const std::size_t size = piece.data.bytes();
      if (size != 0 && !piece.is_remote()) std::memcpy(blocks_[i].data() + piece.offset, piece.data.data(), size);
    }
  }
}

void StateCopy::place(const BlockPlace& place, std::size_t begin, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (const StatePiece& piece : layout_->blocks[i].pieces) {
      if (!piece.is_remote() || piece.place != place) continue;
      const std::size_t size = piece.data.bytes();
      if (begin > size || bytes.size() > size - begin) break;
      std::memcpy(blocks_[i].data() + piece.offset + begin, bytes.data(), bytes.size());
      return;
    }
  }
  throw Error(Code::kCorrupt, "{} bytes at byte {} of block {} of rank {} came, which is not part of the checkpoint",
              bytes.size(), begin, place.block, place.rank);
}

void StateCopy::add(std::vector<SavedState> states) {
  std::move(states.begin(), states.end(), std::back_inserter(snapshot_.states));
}

std::vector<checkpoints::SafetensorsTensor> StateCopy::state_tensors() const {
  std::vector<checkpoints::SafetensorsTensor> tensors = this->tensors(layout_->own);
  for (const SavedState& state : snapshot_.states) {
    for (const StateTensor& tensor : state.tensors) {
      const std::size_t bytes = tensor.data.bytes();
      tensors.push_back(
          {checkpoints::state_tensor_name(state, tensor.name), tensor.data.dtype, tensor.data.shape,
           bytes == 0 ? std::span<const std::byte>() : std::span<const std::byte>(tensor.data.data(), bytes)});
    }
  }
  return tensors;
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
