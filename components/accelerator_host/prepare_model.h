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

/// Throws kShapeMismatch, with the first difference, unless all ranks have the same model. Must be called before the
/// ranks exchange anything else. Otherwise an error would report only different numbers of bytes.
void check_same_model(Model& model, RankGroup& ranks, const std::string& where);

}  // namespace trainyard
