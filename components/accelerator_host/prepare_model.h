#pragma once

#include <string>

#include "models/model.h"
#include "strategies/rank_group.h"
#include "tensors/precision.h"

namespace trainyard {

// What happens to a model between the moment at which it is built and that at which it moves into the arena.

/// Gives parameters and buffers the type of the run. Models are built in float32, so that the seed draws the same
/// numbers for every precision.
void apply_precision(Model& model, const Precision& precision);

/// Throws kShapeMismatch, with the first difference, unless all ranks have the same model. To be called before anything
/// of one rank meets anything of another: what does not fit is told by name then, not by a count of bytes.
void check_same_model(Model& model, RankGroup& ranks, const std::string& where);

}  // namespace trainyard
