// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/stage.h"
#include "tensors/arena.h"

namespace trainyard::pipeline {

/// Says which stages of a model, and with them which bytes of the arena, each rank of a pipeline has.
struct Placement {
  std::vector<std::size_t> stages;   ///< Rank r has the stages from stages[r] up to stages[r + 1] ...
  std::vector<std::uint64_t> bytes;  ///< ... and the bytes from bytes[r] up to bytes[r + 1] of the block of parameters.

  std::size_t rank_of_stage(std::size_t stage) const;
};

/// Cuts a row of weights into `parts` runs of at least one weight each, so that the heaviest run is as light as
/// possible. Returns the `parts` + 1 bounds of the runs. There must be at least as many weights as parts.
std::vector<std::size_t> cut_evenly(const std::vector<std::uint64_t>& weights, std::size_t parts);

/// Gives every rank neighbouring stages, with the bytes of parameters balanced. `where` names the strategy in errors.
/// Throws kUnsupported for more ranks than stages, for a model of one piece, for a parameter that stages on different
/// ranks share, and for stages whose parameters are not in the order of the arena.
Placement place_stages(const std::vector<Stage>& stages, const ArenaLayout& layout, std::uint32_t ranks,
                       const std::string& where);

}  // namespace trainyard::pipeline
