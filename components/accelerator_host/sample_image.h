// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace trainyard::host {

/// Returns a sample as a PNG image in base64, or an empty string if the sample is not an image. An image has the shape
/// (height, width), or (channels, height, width) with 1 or 3 channels. Values of the type uint8 are used unchanged;
/// other numbers are scaled so that the smallest becomes black and the largest white. If the height or width is larger
/// than SampleResults::kMaxImageSide, rows and columns are left out.
std::string image_of(const at::Tensor& sample);

}  // namespace trainyard::host
