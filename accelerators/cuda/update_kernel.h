// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface between the C++ code and the file that nvcc compiles, which uses no header of LibTorch.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "devices/update_rules.h"

using cudaStream_t = struct CUstream_st*;

namespace trainyard::cuda {

/// The types in which parameters and gradients can be stored. State and arithmetic are double for kFloat64, and
/// otherwise float.
enum class Stored { kFloat64, kFloat32, kBFloat16, kFloat16 };

/// The blocks of an update, as addresses in the memory of the GPU.
struct Blocks {
  void* parameters = nullptr;
  void* gradients = nullptr;
  void* state[3] = {};  ///< As many as the rule has.
};

/// Consecutive elements that one group of threads processes.
struct Chunk {
  std::uint64_t begin = 0;  ///< The first element.
  std::uint32_t count = 0;
  std::uint32_t set = 0;  ///< The index of the chunk's coefficients.
};

/// The most elements of a chunk, and the most sets of coefficients of one launch.
constexpr std::uint32_t kChunk = 8192;
constexpr std::size_t kSets = 32;

/// Submits one pass over the chunks: applies the rule, and sets the gradients to zero. `chunks` is an array of `count`
/// elements in the memory of the GPU. Every Chunk::set must be less than the size of `sets`, which has at most kSets
/// elements. Returns CUDA's error code, 0 for success.
int launch_update(devices::Formula formula, Stored stored, const Blocks& blocks, const Chunk* chunks, std::size_t count,
                  const std::vector<devices::Coefficients<double>>& sets, cudaStream_t stream);

}  // namespace trainyard::cuda
