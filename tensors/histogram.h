// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "messages/histogram.h"

namespace trainyard {

/// Returns the histogram of the elements of `values`, each multiplied by `factor`. Does not set the fields `name` and
/// `of` of the result. If the tensor is on a device, the device counts its elements, slice by slice; only the counts
/// are copied to the host, and the function waits for them. A value that is less than one rounding error below the
/// upper edge of a bucket may be counted in the next bucket.
Histogram histogram_of(const at::Tensor& values, double factor = 1);

/// Returns a suitable bucket width for values from `smallest` to `largest`, which must be finite. The width is a power
/// of two for which the values fit into at most Histogram::kMaxBuckets buckets, and is never finer than float32 numbers
/// of this magnitude can distinguish.
double bucket_width(double smallest, double largest);

}  // namespace trainyard
