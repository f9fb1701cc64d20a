// SPDX-License-Identifier: Apache-2.0
#pragma once

// This header is the interface between the C++ code and the file that nvcc compiles. It includes no header of LibTorch.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "devices/update_rules.h"

using cudaStream_t = struct CUstream_st*;

namespace trainyard::cuda_device {

/// The types in which parameters and gradients can be stored. State and arithmetic are double for kFloat64, and
/// otherwise float.
enum class Stored { kFloat64, kFloat32, kBFloat16, kFloat16 };

/// The blocks of an update, as addresses in the memory of the GPU.
struct Blocks {
  void* parameters = nullptr;
  void* gradients = nullptr;
  void* state[3] = {};  ///< The optimizer's state; the formula determines how many blocks there are.
};

/// Consecutive elements that one group of threads processes.
struct Chunk {
  std::uint64_t begin = 0;  ///< The first element.
  std::uint32_t count = 0;
  std::uint32_t set = 0;  ///< The index of the chunk's coefficients in the argument `sets` of launch_update().
};

/// The maximum number of elements in a chunk, and of sets of coefficients in one launch.
constexpr std::uint32_t kChunk = 8192;
constexpr std::size_t kSets = 32;

/// Submits to `stream` a kernel that updates the elements of all chunks once with `formula`, and sets their gradients
/// to zero. `stored` is the type of the parameters and gradients. `chunks` is an array of `count` elements in the
/// memory of the GPU. Every Chunk::set must be less than the size of `sets`, which has at most kSets elements. Returns
/// CUDA's error code, 0 for success.
int launch_update(devices::Formula formula, Stored stored, const Blocks& blocks, const Chunk* chunks, std::size_t count,
                  const std::vector<devices::Coefficients<double>>& sets, cudaStream_t stream);

}  // namespace trainyard::cuda_device
