// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface between the C++ code and the file that nvcc compiles, which uses no header of LibTorch.
//
// Shapes: N rows, V classes. All arrays, and the number `factor`, are in the memory of the GPU.

#include <cstdint>

using cudaStream_t = struct CUstream_st*;

namespace trainyard::cuda {

/// The types of logits that the kernels accept. The kernels compute in float.
enum class Logits { kFloat32, kBFloat16, kFloat16 };

/// Submits to `stream` a pass over the logits (N, V). For every row, it writes log(sum(exp(logits))) to `log_sums` (N),
/// and the cross entropy against the class in `target` (N) to `losses` (N). A class that does not exist makes the loss
/// of its row NaN. Returns CUDA's error code, 0 for success.
int launch_cross_entropy(Logits type, const void* logits, const std::int64_t* target, std::int64_t rows,
                         std::int64_t classes, float* log_sums, float* losses, cudaStream_t stream);

/// Submits to `stream` a pass that computes the gradient of the mean loss with respect to the logits (N, V), multiplies
/// it by `factor`, and writes the result to `gradient` (N, V), in the type of the logits. `log_sums` comes from
/// launch_cross_entropy(). Returns CUDA's error code, 0 for success.
int launch_cross_entropy_backward(Logits type, const void* logits, const std::int64_t* target, std::int64_t rows,
                                  std::int64_t classes, const float* log_sums, const float* factor, void* gradient,
                                  cudaStream_t stream);

}  // namespace trainyard::cuda
