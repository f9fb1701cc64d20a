// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "components/optimizer/kernels.h"
#include "devices/update.h"
#include "messages/tensor.h"

namespace trainyard::optimizer {

/// Updates flat blocks of parameters in host memory, in place. The object keeps references to the blocks; run()
/// allocates no memory.
class HostUpdate final : public devices::Update {
 public:
  /// `gradients` and all blocks in `request.state` must have the layout of `parameters`. Throws kUnsupported for a
  /// dtype that devices::state_type_of() refuses, and kShapeMismatch if a block has the wrong size or type, or if a
  /// block of state is missing.
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
