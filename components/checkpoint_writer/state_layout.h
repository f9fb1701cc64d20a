// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "messages/arena.h"

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

/// The location in memory of some bytes of a block.
struct StatePiece {
  Tensor data;             ///< The live memory of one rank.
  std::size_t offset = 0;  ///< The offset of `data` in the block, in bytes.
};

/// A flat block as a checkpoint contains it: the block of one rank, or the parts of all ranks one after another.
struct StateBlock {
  std::size_t bytes = 0;
  std::vector<StatePiece> pieces;  ///< The live memory that the block is saved from, in ascending pieces.
  /// The same bytes in the memory of other ranks, which are also filled when a run resumes.
  std::vector<StatePiece> replicas;
};

/// The division of the blocks of all arenas and optimizers into the tensors of a checkpoint. The blocks refer to live
/// memory, which must not change while it is read (see Snapshot).
struct StateLayout {
  std::vector<StateBlock> blocks;     ///< The parameters, the buffers, and every block of state.
  std::vector<StateSlice> model;      ///< The tensors of model.safetensors.
  std::vector<StateSlice> optimizer;  ///< The tensors of optimizer.safetensors.
  /// The optimizer state of ranks other than rank 0, if every rank has its own (ArenaInfo::own_state). Each tensor is a
  /// whole block, such as "rank1/optimizer/exp_avg", and is saved in state.safetensors.
  std::vector<StateSlice> own;

  std::size_t bytes() const;  ///< The size of all blocks, each counted once.
};

/// The messages that announced the memory of one rank.
struct RankState {
  const ArenaInfo* arena = nullptr;
  const OptimizerState* optimizer = nullptr;  ///< Null if the run has no optimizer.
};

/// Makes the layout for all ranks; `ranks` is indexed by rank. Either the ranks have consecutive parts of the
/// parameters and of the optimizer's state, or every rank has all of them. Buffers, and state with another layout than
/// the parameters, come from rank 0. The tensors of the model and the optimizer are therefore the same as with a single
/// rank. Throws kCorrupt for an entry outside its block. Throws kShapeMismatch for parts that overlap or leave gaps,
/// and for ranks with different models or rules.
StateLayout make_state_layout(const std::vector<RankState>& ranks);

/// Makes the layout of a run with a single rank; `state` may be null.
inline StateLayout make_state_layout(const ArenaInfo& arena, const OptimizerState* state) {
  return make_state_layout({{&arena, state}});
}

}  // namespace trainyard
