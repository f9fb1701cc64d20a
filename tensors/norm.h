// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Returns the L2 norm of a flat, contiguous tensor. On the CPU the squares of float32 and float64 values are summed in
/// a fixed order, in short runs whose sums are added up in double precision. So the norm does not depend on the number
/// of threads, and stays accurate for large models.
double l2_norm(const at::Tensor& flat);

}  // namespace trainyard
