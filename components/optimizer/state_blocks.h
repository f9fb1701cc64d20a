#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plugin/plugin_context.h"
#include "messages/arena.h"

namespace trainyard::optimizer {

/// The part of the parameters that a rank has, in elements of the whole block.
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint64_t whole = 0;  ///< Elements of all parameters together.
};

/// Throws kNotFound, with the names that there are.
const Tensor& block_of(const ArenaInfo& arena, std::string_view name);

/// Throws kShapeMismatch for an arena whose rank has more than there is, or begins within an element.
Part part_of(const ArenaInfo& arena);

/// Memory for the state of a rank's part: one block for each name, laid out like the parameters, zeroed, but for the
/// sums of adagrad, which start at `initial_sum` where there are parameters, and not in the padding between them.
///
/// With shared state only rank 0 takes memory; the others map it. Throws kTimeout if rank 0 does not come.
std::vector<Tensor> state_blocks(const std::vector<std::string>& names, const ArenaInfo& arena, double initial_sum,
                                 const PluginContext& context);

}  // namespace trainyard::optimizer
