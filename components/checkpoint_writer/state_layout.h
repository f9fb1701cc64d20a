#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "messages/arena.h"

namespace trainyard {

/// One tensor of a checkpoint as a place in a block.
struct StateSlice {
  std::string name;  ///< In the file: "layers.0.weight", or "exp_avg/layers.0.weight" for optimizer state.
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::size_t block = 0;   ///< Index into StateLayout::blocks.
  std::size_t offset = 0;  ///< Bytes from the start of the block.
  std::size_t bytes = 0;
};

/// How the blocks of the arena and of the optimizer are cut into the tensors of a checkpoint. The blocks are references
/// to live memory; whoever reads them sees to it that nobody writes meanwhile (Snapshot).
struct StateLayout {
  std::vector<Tensor> blocks;         ///< The live memory: parameters, buffers, and every block of state.
  std::vector<StateSlice> model;      ///< Tensors of model.safetensors.
  std::vector<StateSlice> optimizer;  ///< Tensors of optimizer.safetensors.

  std::size_t bytes() const;  ///< Of all blocks.
};

/// `state` may be null. Throws kCorrupt for an entry that does not lie in its block.
StateLayout make_state_layout(const ArenaInfo& arena, const OptimizerState* state);

}  // namespace trainyard
