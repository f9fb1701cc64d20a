// SPDX-License-Identifier: Apache-2.0
#include "transforms/random_flip/random_flip.h"

#include <algorithm>
#include <cstdint>

namespace trainyard {
namespace {

/// Reverses the elements of every row. The function is a template because the compiler vectorises the loop only if it
/// knows the size of an element.
template <class Element>
void mirror_rows(std::span<const std::byte> input, std::span<std::byte> output, std::size_t width) {
  const auto* source = reinterpret_cast<const Element*>(input.data());
  auto* target = reinterpret_cast<Element*>(output.data());
  const std::size_t rows = input.size() / sizeof(Element) / width;
  for (std::size_t row = 0; row < rows; ++row) {
    std::reverse_copy(source + row * width, source + (row + 1) * width, target + row * width);
  }
}

void mirror_columns(const ImageShape& image, std::span<const std::byte> input, std::span<std::byte> output) {
  for (std::size_t plane = 0; plane < image.planes; ++plane) {
    const std::byte* source = input.data() + plane * image.plane_bytes();
    std::byte* target = output.data() + (plane + 1) * image.plane_bytes();
    for (std::size_t row = 0; row < image.height; ++row) {
      target -= image.row_bytes();
      std::memcpy(target, source + row * image.row_bytes(), image.row_bytes());
    }
  }
}

}  // namespace

DatasetField RandomFlip::prepare(const DatasetField& input) {
  image_ = image_shape(input, where());
  return input;
}

void RandomFlip::apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const {
  if (random == nullptr || random->unit() >= *probability_) {
    std::copy(input.begin(), input.end(), output.begin());
  } else if (*direction_ == random_flip::Direction::kVertical) {
    mirror_columns(image_, input, output);
  } else if (image_.element_bytes == 1) {
    mirror_rows<std::uint8_t>(input, output, image_.width);
  } else if (image_.element_bytes == 2) {
    mirror_rows<std::uint16_t>(input, output, image_.width);
  } else if (image_.element_bytes == 4) {
    mirror_rows<std::uint32_t>(input, output, image_.width);
  } else {
    mirror_rows<std::uint64_t>(input, output, image_.width);
  }
}

}  // namespace trainyard

TRAINYARD_TRANSFORM(trainyard::RandomFlip, "random_flip", "Mirrors some of the images.")
