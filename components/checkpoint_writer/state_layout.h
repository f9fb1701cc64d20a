// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/remote_memory.h"

namespace trainyard {

/// One tensor of a checkpoint, given as a range of a block.
struct StateSlice {
  std::string name;  ///< The name in the file: "layers.0.weight", or "exp_avg/layers.0.weight" for optimizer state.
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::size_t block = 0;   ///< The index into StateLayout::blocks.
  std::size_t offset = 0;  ///< The distance in bytes from the start of the block.
  std::size_t bytes = 0;
};

/// A range of a block, and the memory in which its bytes are.
struct StatePiece {
  /// The bytes, in memory that one rank uses for training. If the rank is on another host, the tensor has no memory.
  Tensor data;
  std::size_t offset = 0;  ///< The offset of the first byte of `data` in the block, in bytes.
  BlockPlace place;        ///< The block of the rank that has the bytes.

  /// Returns true if the bytes are on another host, so that only a checkpoint relay can read and fill them.
  bool is_remote() const { return data.buffer.empty() && data.bytes() != 0; }
};

/// A flat block as a checkpoint contains it: the block of one rank, or the parts of all ranks one after another.
struct StateBlock {
  std::size_t bytes = 0;
  std::vector<StatePiece> pieces;  ///< The memory from which the block is saved, in the order of the offsets.
  /// The same bytes in the memory of other ranks. They are filled, too, when a run resumes.
  std::vector<StatePiece> replicas;
};

/// The division of the blocks of the arenas and the optimizers into the tensors of a checkpoint. The blocks refer to
/// the memory in which the run trains, which must not change while it is read (see Snapshot).
struct StateLayout {
  std::vector<StateBlock> blocks;     ///< The parameters, the buffers, and every block of state.
  std::vector<StateSlice> model;      ///< The tensors of model.safetensors.
  std::vector<StateSlice> optimizer;  ///< The tensors of optimizer.safetensors.
  /// Separate optimizer state of ranks other than rank 0 (ArenaInfo::own_state), as whole blocks such as
  /// "rank1/optimizer/exp_avg". It is stored in state.safetensors.
  std::vector<StateSlice> own;

  bool has_remote_pieces() const;  ///< True if a checkpoint has bytes that only ranks on other hosts have.
  std::size_t bytes() const;       ///< The size of all blocks, each counted once.
};

/// The messages that announced the memory of one rank.
struct RankState {
  const ArenaInfo* arena = nullptr;
  const OptimizerState* optimizer = nullptr;  ///< Null if the run has no optimizer.
};

/// Makes the layout of a run. `ranks` are all ranks, ordered by number. Either every rank has all parameters and all of
/// the optimizer's state, or the ranks have consecutive parts of both. Buffers, and state that is not laid out like the
/// parameters, are taken from rank 0. So the tensors of the model and the optimizer are the same as with a single rank.
/// Throws kCorrupt for an entry that is not inside its block. Throws kShapeMismatch if parts overlap or leave gaps, or
/// if the ranks do not have the same model and rule.
StateLayout make_state_layout(const std::vector<RankState>& ranks);

/// Makes the layout of a run with a single rank; `state` may be null.
inline StateLayout make_state_layout(const ArenaInfo& arena, const OptimizerState* state) {
  return make_state_layout({{&arena, state}});
}

}  // namespace trainyard
