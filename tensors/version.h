// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Optional.h>
#include <torch/version.h>

#include <optional>

// Describes how the supported versions of LibTorch differ: 1.13 of Debian 12, 2.6 of Debian 13, and the releases of the
// PyTorch project. Every difference that matters to Trainyard has a name in this file.

/// True if the version of LibTorch is `major`.`minor` or later.
#define TRAINYARD_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace trainyard {

/// True if LibTorch has float16 kernels for the CPU, and supports autocast to float16 there.
inline constexpr bool kHalfOnCpu = TRAINYARD_TORCH_AT_LEAST(2, 3);

/// True if it is safe to let TorchScript specialize a module for the shapes of earlier batches, which makes later
/// batches faster. This is not safe from version 2.0 on: in 2.6, a module with a branch that only some batches take
/// fails when the batch size changes ("The size of tensor a (20) must match the size of tensor b (7) ...").
inline constexpr bool kTorchScriptSpecializes = !TRAINYARD_TORCH_AT_LEAST(2, 0);

/// True if LibTorch has scaled_dot_product_attention, a fused operation for attention with kernels for GPUs.
#define TRAINYARD_TORCH_HAS_SDPA TRAINYARD_TORCH_AT_LEAST(2, 1)

/// True if LibTorch can read the metadata of an AOTInductor package without running the code in it.
/// models/aoti/CMakeLists.txt checks whether LibTorch can load such packages and return their weights, as it can since
/// version 2.8.
#define TRAINYARD_TORCH_READS_AOTI_METADATA TRAINYARD_TORCH_AT_LEAST(2, 10)

/// The type of optional arguments of LibTorch's functions: c10::optional before version 2.4, and std::optional since
/// then.
#if TRAINYARD_TORCH_AT_LEAST(2, 4)
template <class T>
using TorchOptional = std::optional<T>;
#else
template <class T>
using TorchOptional = c10::optional<T>;
#endif

}  // namespace trainyard
