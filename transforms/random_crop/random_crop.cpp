// SPDX-License-Identifier: Apache-2.0
#include "transforms/random_crop/random_crop.h"

namespace trainyard {

DatasetField RandomCrop::prepare(const DatasetField& input) {
  image_ = image_shape(input, where());
  const auto size = static_cast<std::size_t>(*size_);
  const auto padded = 2 * static_cast<std::size_t>(*padding_);
  if (image_.height + padded < size || image_.width + padded < size) {
    throw Error(Code::kShapeMismatch, "{}: size = {} with padding = {}, but the field '{}' is {}; allowed: 1 to {}",
                where(), size, *padding_, input.name, describe(input), std::min(image_.height, image_.width) + padded);
  }
  return resized(input, size, size);
}

void RandomCrop::apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const {
  const auto size = static_cast<std::size_t>(*size_);
  const auto start = [&](std::size_t extent) {
    const std::size_t places = extent + 2 * static_cast<std::size_t>(*padding_) - size + 1;
    const std::size_t place = random == nullptr ? (places - 1) / 2 : random->below(places);
    return static_cast<std::ptrdiff_t>(place) - *padding_;
  };
  // `top` must be drawn before the column, because the order of the draws affects the result.
  const std::ptrdiff_t top = start(image_.height);
  const std::ptrdiff_t left = start(image_.width);
  copy_window(image_, input, output, size, top, left);
}

}  // namespace trainyard

TRAINYARD_TRANSFORM(trainyard::RandomCrop, "random_crop", "Cuts a square out of an image, anywhere, perhaps padded.")
