// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace trainyard::shared_memory {

/// A function that combines `input_count` (at least 2) arrays of `elements` elements, in the order of `inputs`, and
/// writes the result to every output. An output may be the same array as an input. The result for an element does not
/// depend on its position in the array.
using Reduce = void (*)(const void* const* inputs, std::size_t input_count, void* const* outputs,
                        std::size_t output_count, std::size_t elements);

constexpr std::size_t kDTypes = 10;    ///< The number of element types (DType).
constexpr std::size_t kReduceOps = 5;  ///< The number of reductions (ReduceOp).

/// The reduction functions compiled for one instruction set. The results of all sets are bit-identical. 16-bit floats
/// are added in float32 and rounded once, and integers are added in 64 bits. For bools, the sum is a logical "or" and
/// the product a logical "and". If an input is NaN, the result is NaN, even for minimum and maximum. The mean is the
/// sum divided by the number of inputs; for integers it is rounded towards zero.
struct KernelSet {
  std::string_view name;
  /// The functions, by DType and ReduceOp. Null only for the mean of bools, which does not exist.
  Reduce reduce[kDTypes][kReduceOps];
};

/// Returns the kernels that every processor can run.
const KernelSet* generic_kernels();
/// Returns the kernels for AVX2, or null if the compiler or the processor does not support it.
const KernelSet* avx2_kernels();
/// Returns the kernels for AVX-512, or null if the compiler or the processor does not support it.
const KernelSet* avx512_kernels();

/// Returns the kernels of the widest instruction set that this processor can run.
const KernelSet& best_kernels();

}  // namespace trainyard::shared_memory
