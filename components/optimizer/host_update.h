// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "components/optimizer/kernels.h"
#include "devices/device_arena.h"
#include "messages/tensor.h"

namespace trainyard::optimizer {

/// Returns the type of the optimizer's state for parameters of type `parameters`: the same type, or float32 for 16-bit
/// floats, which are not precise enough for running averages. Throws kUnsupported for types that the optimizer cannot
/// update.
DType state_dtype_of(DType parameters);

/// Updates flat blocks of parameters in host memory, in place. The object keeps references to the blocks; run()
/// allocates no memory.
class HostUpdate final : public devices::Update {
 public:
  /// `gradients` and all blocks in `request.state` must have the layout of `parameters`. Throws kUnsupported for a
  /// dtype that state_dtype_of() refuses, kShapeMismatch if a block has the wrong size or type, and kInternal if the
  /// formula needs another number of blocks of state.
  HostUpdate(devices::UpdateRequest request, Tensor parameters, Tensor gradients,
             const KernelSet& kernels = best_kernels());

  void run(std::span<const Coefficients<double>> coefficients) override;

 private:
  template <class T>
  void run_as(std::span<const Coefficients<double>> coefficients) const;

  devices::UpdateRequest request_;
  Tensor parameters_;
  Tensor gradients_;
  const KernelSet& kernels_;
};

}  // namespace trainyard::optimizer
