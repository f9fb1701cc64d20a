// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plugin/plugin_context.h"
#include "messages/arena.h"

namespace trainyard::optimizer {

/// The part of the parameters that a rank updates, in elements.
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint64_t whole = 0;  ///< The number of elements of all parameters together.
};

/// Returns the block `name` of a rank's memory, such as "parameters". Throws kNotFound, listing the existing names, if
/// there is none.
const Tensor& block_of(const ArenaInfo& arena, std::string_view name);

/// Returns which part of the parameters the rank updates. Throws kShapeMismatch if the part extends beyond the
/// parameters or begins inside an element.
Part part_of(const ArenaInfo& arena);

/// Returns memory for the optimizer's state: one block for each of `names`, with the layout of the rank's part of the
/// parameters. The blocks are zeroed, except that in the block "sum" (of adagrad), the elements that belong to
/// parameters are set to `initial_sum`.
///
/// If all ranks share the state, only rank 0 allocates memory, and the other ranks map it. Throws kTimeout if rank 0
/// does not provide the memory in time, and kShapeMismatch if its size is wrong.
std::vector<Tensor> state_blocks(const std::vector<std::string>& names, const ArenaInfo& arena, double initial_sum,
                                 const PluginContext& context);

}  // namespace trainyard::optimizer
