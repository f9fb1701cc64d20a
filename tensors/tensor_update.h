// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "devices/update.h"

namespace trainyard {

/// The flat tensors that an update works on, in the memory of a device.
struct UpdateBlocks {
  at::Tensor parameters;
  at::Tensor gradients;  ///< Has the type of the parameters.
  /// One tensor for each kind of value that the update rule keeps; see update_state_type().
  std::vector<at::Tensor> state;
};

/// Returns an update that is made of LibTorch's operations, so it works on every device that LibTorch supports. Its
/// results are bit-identical to those of the processor's kernels in float32, if the device rounds after each operation.
///
/// The caller must have checked that the blocks and the ranges of the request fit together.
std::unique_ptr<devices::Update> make_tensor_update(const devices::UpdateRequest& request, UpdateBlocks blocks);

/// Returns the type of the optimizer's state for parameters of this type: float64 for float64, otherwise float32.
/// Throws kUnsupported if the parameters are not floating-point numbers.
at::ScalarType update_state_type(at::ScalarType parameters);

}  // namespace trainyard
