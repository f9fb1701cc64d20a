// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "collectives/elements.h"
#include "messages/dtype.h"

namespace trainyard::collectives {

/// Reduces arrays of `count` elements, one from each rank, element by element in the order in which they are given. The
/// result of an element therefore does not depend on the other elements. `output` may be one of the inputs.
///
/// 16-bit floats are added in float32 and rounded once. Integers are added in 64 bits, and their mean is rounded
/// towards zero. For bools the sum is "any" and the product "all".
void reduce_in_order(ReduceOp op, DType dtype, std::span<const void* const> inputs, void* output, std::uint64_t count);

/// How elements are reduced by a library that lacks a type or an operation: they are converted to `dtype`, reduced with
/// `op`, and divided by `divisor` while they are converted back. A mean is a sum with the number of ranks as `divisor`;
/// otherwise `divisor` is 1. Types and rounding are those of reduce_in_order; the order of the additions is the
/// library's.
struct WorkingForm {
  DType dtype;
  ReduceOp op;
  std::uint32_t divisor;
};
/// Returns the form in which elements of type `dtype` are reduced with `op`.
WorkingForm working_form(ReduceOp op, DType dtype, std::uint32_t ranks);
/// Convert `count` elements of type `dtype` to their working form and, after the reduction, back.
void to_working_form(const WorkingForm& form, DType dtype, const void* from, void* to, std::uint64_t count);
void from_working_form(const WorkingForm& form, DType dtype, const void* from, void* to, std::uint64_t count);

}  // namespace trainyard::collectives
