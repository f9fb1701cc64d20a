// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/model.h"
#include "strategies/rank_group.h"
#include "tensors/precision.h"

namespace trainyard {

// These functions are called after a model has been built and before its parameters are moved into one flat block of
// memory, in which the optimizer and the checkpoint writer use them.

/// Converts the parameters and buffers of a model, which is built in float32, to the type that `precision` requires. So
/// a seed produces the same initial values, up to rounding, at every precision.
void apply_precision(Model& model, const Precision& precision);

/// Throws kShapeMismatch, naming the first difference, if the ranks have different models. All ranks must call this
/// function before they exchange any tensors, because an exchange of tensors with different sizes would fail with an
/// error that names only the sizes. `where` is the beginning of the error text.
void check_same_model(Model& model, RankGroup& ranks, const std::string& where);

}  // namespace trainyard
