// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "collectives/elements.h"
#include "messages/dtype.h"

namespace trainyard::collectives {

/// Reduces the arrays `inputs` (one from each rank, `count` elements each) element by element, in their order. The
/// result therefore has the same bits however the elements are divided among calls. `output` may be one of the inputs.
/// An input may begin at any address, even one that is not aligned for its elements.
///
/// 16-bit floats are added in float32 and rounded once. Integers are added in 64 bits, and a sum that is too large for
/// their type wraps around. The mean of integers is rounded towards zero. For bools, the sum is a logical "or" and the
/// product a logical "and".
void reduce_in_order(ReduceOp op, DType dtype, std::span<const void* const> inputs, void* output, std::uint64_t count);

/// How to reduce elements with a library that does not support their type or the operation: convert them to `dtype`,
/// reduce them with `op`, and divide by `divisor` when converting them back. For a mean of numbers, `op` is the sum and
/// `divisor` is the number of ranks; otherwise `divisor` is 1. Elements are converted and rounded as in
/// reduce_in_order(), but the library determines the order of the additions.
struct WorkingForm {
  DType dtype;
  ReduceOp op;
  std::uint32_t divisor;
};
/// Returns the working form of elements of type `dtype` for a reduction with `op` over `ranks` ranks.
WorkingForm working_form(ReduceOp op, DType dtype, std::uint32_t ranks);
/// Converts `count` elements of type `dtype` to their working form.
void to_working_form(const WorkingForm& form, DType dtype, const void* from, void* to, std::uint64_t count);
/// Converts `count` reduced elements from their working form back to type `dtype`, and divides them by `form.divisor`.
void from_working_form(const WorkingForm& form, DType dtype, const void* from, void* to, std::uint64_t count);

}  // namespace trainyard::collectives
