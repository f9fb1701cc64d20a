// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Returns the L2 norm of a flat, contiguous tensor. On the CPU it is summed in a fixed order, and in double precision
/// between short runs, so that it does not depend on the number of threads and does not lose digits in large models.
double l2_norm(const at::Tensor& flat);

}  // namespace trainyard
