// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/sample_image.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cstring>

#include "images/base64.h"
#include "images/png.h"
#include "messages/validation_results.h"

// Shapes: C channels, H height, W width.
namespace trainyard::host {
namespace {

at::Tensor as_bytes(const at::Tensor& image_CHW) {
  if (image_CHW.scalar_type() == at::kByte) return image_CHW;
  const at::Tensor values = at::nan_to_num(image_CHW.to(at::kFloat), 0, 0, 0);
  const at::Tensor low = values.min(), range = values.max() - low;
  if (range.item<float>() <= 0) return at::zeros_like(values, at::kByte);
  return ((values - low) / range * 255).round().to(at::kByte);
}

}  // namespace

std::string image_of(const at::Tensor& sample) {
  const at::NoGradGuard no_gradients;
  const at::Tensor image_CHW = sample.dim() == 2 ? sample.unsqueeze(0) : sample;
  if (image_CHW.dim() != 3 || image_CHW.numel() == 0 || (image_CHW.size(0) != 1 && image_CHW.size(0) != 3)) return {};
  const std::int64_t side = std::max(image_CHW.size(1), image_CHW.size(2));
  const std::int64_t stride = (side + SampleResults::kMaxImageSide - 1) / SampleResults::kMaxImageSide;
  const at::Tensor small_CHW = image_CHW.slice(1, {}, {}, stride).slice(2, {}, {}, stride);
  const at::Tensor bytes_HWC = as_bytes(small_CHW).permute({1, 2, 0}).contiguous();
  images::Pixels pixels{.width = static_cast<std::uint32_t>(bytes_HWC.size(1)),
                        .height = static_cast<std::uint32_t>(bytes_HWC.size(0)),
                        .channels = static_cast<std::uint32_t>(bytes_HWC.size(2)),
                        .bytes = std::vector<std::uint8_t>(static_cast<std::size_t>(bytes_HWC.numel()))};
  std::memcpy(pixels.bytes.data(), bytes_HWC.data_ptr<std::uint8_t>(), pixels.bytes.size());
  return images::base64_of(images::png_of(pixels));
}

}  // namespace trainyard::host
