// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "collectives/elements.h"
#include "messages/dtype.h"

namespace trainyard::collectives {

/// Reduces arrays of `count` elements, one of each rank, element by element in the order in which they are given. The
/// result of an element therefore does not depend on the other elements. `output` may be one of the inputs.
///
/// Halves are added in float32 and rounded once. Whole numbers are added in 64 bits, and their mean is rounded towards
/// zero. For truth values the sum is "any" and the product "all".
void reduce_in_order(ReduceOp op, DType dtype, std::span<const void* const> inputs, void* output, std::uint64_t count);

/// The type and the operation for libraries that do not support every type, with conversions in both directions. The
/// results are those of reduce_in_order. A mean is computed as a sum that is divided during the conversion back.
struct WorkingForm {
  DType dtype;
  ReduceOp op;
  std::uint32_t divisor;
};
WorkingForm working_form(ReduceOp op, DType dtype, std::uint32_t ranks);
void to_working_form(const WorkingForm& form, DType dtype, const void* from, void* to, std::uint64_t count);
void from_working_form(const WorkingForm& form, DType dtype, const void* from, void* to, std::uint64_t count);

}  // namespace trainyard::collectives
