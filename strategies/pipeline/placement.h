// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/stage.h"
#include "tensors/arena.h"

namespace trainyard::pipeline {

/// The stages of a model, and the corresponding bytes of the arena, that each rank of a pipeline has.
struct Placement {
  std::vector<std::size_t> stages;   ///< Rank r has the stages from stages[r] to stages[r + 1] - 1.
  std::vector<std::uint64_t> bytes;  ///< Rank r has the bytes [bytes[r], bytes[r + 1]) of the block of parameters.

  std::size_t rank_of_stage(std::size_t stage) const;
};

/// Cuts a row of weights into `parts` runs of at least one weight each, so that the heaviest run is as light as
/// possible. Returns the `parts` + 1 bounds of the runs. There must be at least as many weights as parts.
std::vector<std::size_t> cut_evenly(const std::vector<std::uint64_t>& weights, std::size_t parts);

/// Assigns neighbouring stages to every rank, so that the bytes of parameters are balanced. `where` names the strategy
/// in errors. Throws kUnsupported if there are more ranks than stages, or if the model cannot be divided into stages.
/// Also throws it if stages on different ranks share a parameter, or if the stages' parameters are not in the order of
/// the arena.
Placement place_stages(const std::vector<Stage>& stages, const ArenaLayout& layout, std::uint32_t ranks,
                       const std::string& where);

}  // namespace trainyard::pipeline
