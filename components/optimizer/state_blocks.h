// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plugin/plugin_context.h"
#include "messages/arena.h"

namespace trainyard::optimizer {

/// The part of the parameters that belongs to a rank, counted in elements of the whole block.
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint64_t whole = 0;  ///< The number of elements of all parameters together.
};

/// Returns the arena's block of this name. Throws kNotFound, listing the existing names.
const Tensor& block_of(const ArenaInfo& arena, std::string_view name);

/// Returns the rank's part of the parameters. Throws kShapeMismatch if it extends beyond the parameters or begins
/// inside an element.
Part part_of(const ArenaInfo& arena);

/// Returns memory for the state of a rank's part: one block for each name, with the layout of the parameters. The
/// blocks are zeroed, with one exception: in a block named "sum" (adagrad), the elements that belong to parameters
/// start at `initial_sum`.
///
/// With shared state only rank 0 allocates memory, and the other ranks map it. Throws kTimeout if rank 0 does not
/// provide it, and kShapeMismatch if its size is wrong.
std::vector<Tensor> state_blocks(const std::vector<std::string>& names, const ArenaInfo& arena, double initial_sum,
                                 const PluginContext& context);

}  // namespace trainyard::optimizer
