// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Returns the same images, or the same weights of a convolution, with the channels of each pixel next to each other in
/// memory (LibTorch's memory format channels-last). The shape stays (batch, channels, height, width). A tensor that is
/// already in this format is returned as it is. Images with a single channel have the same layout in this format and in
/// the default format; they, too, get the strides of channels-last, because LibTorch chooses the memory format of a
/// convolution's result from the strides of its input.
at::Tensor channels_last(const at::Tensor& images_BCHW);

}  // namespace trainyard
