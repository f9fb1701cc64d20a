// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace trainyard::host {

/// Returns a sample as a PNG image in base64, or an empty text if the sample is not an image. An image has the shape
/// (height, width), or (channels, height, width) with 1 or 3 channels. Bytes are shown as they are; other numbers are
/// scaled so that the smallest becomes black and the largest white. An image larger than SampleResults::kMaxImageSide
/// is reduced by leaving out rows and columns.
std::string image_of(const at::Tensor& sample);

}  // namespace trainyard::host
