// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/remote_memory.h"

namespace trainyard {

/// One tensor of a checkpoint, as a range of a block.
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
  /// The bytes, in the memory that a rank uses for training. If the rank is on another host, the tensor has no memory.
  Tensor data;
  std::size_t offset = 0;  ///< The offset of the first byte of `data` in the block, in bytes.
  BlockPlace place;        ///< The rank that has the bytes, and the index of its block.

  /// Returns true if the bytes are on another host, so that only a checkpoint relay (a component on that host) can read
  /// and fill them.
  bool is_remote() const { return data.buffer.empty() && data.bytes() != 0; }
};

/// A flat block of memory as it is stored in a checkpoint: the block of one rank, or the parts of all ranks one after
/// another.
struct StateBlock {
  std::size_t bytes = 0;
  std::vector<StatePiece> pieces;  ///< The memory from which the block is saved, in ascending order of offsets.
  /// The memory of other ranks that contains the same bytes. It is not saved, but it is filled, too, when a run
  /// resumes.
  std::vector<StatePiece> replicas;
};

/// How the memory of all ranks (parameters, buffers and optimizer state) is divided into the tensors of a checkpoint.
/// The blocks refer to the memory that training uses, which must not change while it is read (see Snapshot).
struct StateLayout {
  std::vector<StateBlock> blocks;     ///< The parameters, the buffers, and the optimizer's blocks of state.
  std::vector<StateSlice> model;      ///< The tensors of model.safetensors.
  std::vector<StateSlice> optimizer;  ///< The tensors of optimizer.safetensors.
  /// The optimizer state of ranks other than rank 0, if the ranks have different state (ArenaInfo::own_state). Each
  /// slice is a whole block, stored as a tensor of state.safetensors, such as "rank1/optimizer/exp_avg".
  std::vector<StateSlice> own;

  bool has_remote_pieces() const;  ///< Returns true if a checkpoint has bytes that only ranks on other hosts have.
  std::size_t bytes() const;       ///< Returns the total size of all blocks.
};

/// The messages in which one rank has announced its memory.
struct RankState {
  const ArenaInfo* arena = nullptr;
  const OptimizerState* optimizer = nullptr;  ///< Null if the run has no optimizer.
};

/// Makes the layout of a run. `ranks` contains all ranks, in order. Either every rank has all parameters and all of the
/// optimizer's state, or the ranks have consecutive parts of both. Buffers, and optimizer state that does not have the
/// layout of the parameters, are taken from rank 0. So the tensors of the model and the optimizer are the same as with
/// a single rank. Throws kCorrupt for a tensor that is not inside its block, and kShapeMismatch if parts overlap or
/// leave gaps, or if the ranks have different models or optimizers.
StateLayout make_state_layout(const std::vector<RankState>& ranks);

/// Makes the layout of a run with a single rank; `state` may be null.
inline StateLayout make_state_layout(const ArenaInfo& arena, const OptimizerState* state) {
  return make_state_layout({{&arena, state}});
}

}  // namespace trainyard
