// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "devices/update_rules.h"
#include "messages/half.h"

namespace trainyard::test_device {

/// The addresses of the same range of elements in the blocks on which an update works. T is the type of the parameters,
/// and A is the type of the state and of the calculation.
template <class T, class A>
struct UpdateSlices {
  T* parameters = nullptr;
  T* gradients = nullptr;
  A* state[3] = {};
  std::size_t count = 0;  ///< The number of elements.
};

/// Each overload updates the parameters and the state with the formula, and sets the gradients to zero. The results are
/// bit-identical to those of the optimizer's kernels for the processor.
void update(devices::Formula, const UpdateSlices<float, float>&, const devices::Coefficients<float>&);
void update(devices::Formula, const UpdateSlices<double, double>&, const devices::Coefficients<double>&);
void update(devices::Formula, const UpdateSlices<BFloat16, float>&, const devices::Coefficients<float>&);
void update(devices::Formula, const UpdateSlices<Float16, float>&, const devices::Coefficients<float>&);

}  // namespace trainyard::test_device
