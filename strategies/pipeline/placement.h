// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/stage.h"
#include "tensors/arena.h"

namespace trainyard::pipeline {

/// Which stages (layers or groups of layers) of a model, and which bytes of the flat block of parameters, each rank of
/// a pipeline has.
struct Placement {
  std::vector<std::size_t> stages;   ///< Rank r has the stages from stages[r] to stages[r + 1] - 1.
  std::vector<std::uint64_t> bytes;  ///< Rank r has the bytes [bytes[r], bytes[r + 1]) of the block of parameters.

  std::size_t rank_of_stage(std::size_t stage) const;
};

/// Divides a sequence of weights into `parts` ranges of neighbouring weights, none of them empty, so that the largest
/// sum of weights in a range is as small as possible. Returns the `parts` + 1 bounds of the ranges, as indices. There
/// must be at least `parts` weights.
std::vector<std::size_t> cut_evenly(const std::vector<std::uint64_t>& weights, std::size_t parts);

/// Assigns neighbouring stages to every rank, so that all ranks have parameters of about the same size. `where` is the
/// beginning of error messages. Throws kUnsupported if the model is not divided into stages, if there are more ranks
/// than stages, if stages on different ranks share a parameter, or if the order of the parameters in the flat block is
/// not that of the stages.
Placement place_stages(const std::vector<Stage>& stages, const ArenaLayout& layout, std::uint32_t ranks,
                       const std::string& where);

}  // namespace trainyard::pipeline
