// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/model.h"
#include "strategies/rank_group.h"
#include "tensors/precision.h"

namespace trainyard {

// These functions prepare a model after it is built and before it moves into the arena.

/// Converts the parameters and buffers to the type that `precision` selects. Models are built in float32, so that a
/// seed yields the same initial numbers for every precision.
void apply_precision(Model& model, const Precision& precision);

/// Checks that all ranks have the same model. Throws kShapeMismatch, with the first difference, if they do not. Must be
/// called before the ranks exchange any tensors, so that the error names the difference instead of a number of bytes.
void check_same_model(Model& model, RankGroup& ranks, const std::string& where);

}  // namespace trainyard
