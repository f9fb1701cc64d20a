// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Returns the L2 norm of a flat, contiguous tensor. On the CPU the squares of float32 and float64 are summed in a
/// fixed order; the sums of short runs are added up in double precision. The norm therefore does not depend on the
/// number of threads, and stays accurate in large models.
double l2_norm(const at::Tensor& flat);

}  // namespace trainyard
