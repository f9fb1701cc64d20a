// SPDX-License-Identifier: Apache-2.0
#include "transforms/center_crop/center_crop.h"

namespace trainyard {
namespace {

/// Returns half of `surplus`. A result that ends in .5 is rounded to the even neighbour.
std::ptrdiff_t half(std::size_t surplus) {
  return static_cast<std::ptrdiff_t>(surplus / 2 + (surplus % 4 == 3 ? 1 : 0));
}

}  // namespace

DatasetField CenterCrop::prepare(const DatasetField& input) {
  image_ = image_shape(input, where());
  const auto size = static_cast<std::size_t>(*size_);
  if (image_.height < size || image_.width < size) {
    throw Error(Code::kShapeMismatch, "{}: size = {}, but the field '{}' is {}; allowed: 1 to {}", where(), size,
                input.name, describe(input), std::min(image_.height, image_.width));
  }
  return resized(input, size, size);
}

void CenterCrop::apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom*) const {
  const auto size = static_cast<std::size_t>(*size_);
  copy_window(image_, input, output, size, half(image_.height - size), half(image_.width - size));
}

}  // namespace trainyard

TRAINYARD_TRANSFORM(trainyard::CenterCrop, "center_crop", "Cuts the square in the middle out of an image.")
