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

/// Where some bytes of a block are in memory.
struct StatePiece {
  Tensor data;             ///< The live memory of one rank.
  std::size_t offset = 0;  ///< The place of the first byte of `data` in the block.
};

/// A flat block as a checkpoint contains it: the block of one rank, or the parts of all ranks one after another.
struct StateBlock {
  std::size_t bytes = 0;
  std::vector<StatePiece> pieces;  ///< The live memory from which the block is saved, in ascending pieces.
  /// The same bytes in the memory of other ranks, which are filled as well when a run resumes.
  std::vector<StatePiece> replicas;
};

/// Says how the blocks of the arenas and of the optimizers are cut into the tensors of a checkpoint. The blocks refer
/// to live memory, which must not change while it is read (see Snapshot).
struct StateLayout {
  std::vector<StateBlock> blocks;     ///< The parameters, the buffers, and every block of state.
  std::vector<StateSlice> model;      ///< The tensors of model.safetensors.
  std::vector<StateSlice> optimizer;  ///< The tensors of optimizer.safetensors.
  /// Optimizer state that ranks other than the first have for themselves (ArenaInfo::own_state), as whole blocks:
  /// "rank1/optimizer/exp_avg". It goes into state.safetensors.
  std::vector<StateSlice> own;

  std::size_t bytes() const;  ///< The size of all blocks, each counted once.
};

/// The messages in which one rank has announced its memory.
struct RankState {
  const ArenaInfo* arena = nullptr;
  const OptimizerState* optimizer = nullptr;  ///< Null if the run has no optimizer.
};

/// `ranks` are all ranks, by number. Either each has a part of the parameters and of the optimizer's state, one after
/// another, or each has all of it. Buffers, and state that is not laid out like the parameters, are those of rank 0. So
/// the tensors of model and optimizer are the same as with a single rank. Throws kCorrupt for an entry that does not
/// lie in its block, and kShapeMismatch for parts that overlap or leave gaps and for ranks that do not have the same
/// model and rule.
StateLayout make_state_layout(const std::vector<RankState>& ranks);

/// Makes the layout of a run with a single rank; `state` may be null.
inline StateLayout make_state_layout(const ArenaInfo& arena, const OptimizerState* state) {
  return make_state_layout({{&arena, state}});
}

}  // namespace trainyard
