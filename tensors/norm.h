// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Returns the L2 norm of a flat, contiguous tensor. On the CPU, the squares of float32 and float64 values are added in
/// a fixed order, so the norm does not depend on the number of threads. The squares of float32 values are added in
/// short groups, and the sums of the groups are added in double precision, so the norm stays accurate for large models.
/// The norm of 16-bit values is computed in float32.
double l2_norm(const at::Tensor& flat);

}  // namespace trainyard
