// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "messages/histogram.h"

namespace trainyard {

/// Returns the histogram of the elements of `values`, each multiplied by `factor`. Its `name` and `of` are not set. The
/// tensor is read in slices where it is; only the counts are copied from a device. Waits for the device. A value that
/// is less than one rounding error below the edge of a bucket may be counted in the next bucket.
Histogram histogram_of(const at::Tensor& values, double factor = 1);

/// Returns the width of the buckets for values from `smallest` to `largest`, which are finite: the smallest power of
/// two for which the values fit into at most Histogram::kMaxBuckets buckets, but not less than the spacing of float32
/// numbers of this magnitude.
double bucket_width(double smallest, double largest);

}  // namespace trainyard
