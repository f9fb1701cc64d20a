// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/tensor.h"

namespace trainyard {

/// Returns the dtype and the shape of a field as text for errors, such as "uint8 [3, 32, 32]".
inline std::string describe(const DatasetField& field) {
  return std::string(name_of(static_cast<DType>(field.dtype))) + " " + to_text(field.shape);
}

/// The layout of an image in memory. The image consists of one or more planes of `height` rows and `width` columns, one
/// plane after another.
struct ImageShape {
  std::size_t planes = 1;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t element_bytes = 1;  ///< The size of one value, such as 4 for float32.

  std::size_t row_bytes() const { return width * element_bytes; }
  std::size_t plane_bytes() const { return height * row_bytes(); }
};

/// Returns the layout of an image field, which has the shape [channels, height, width] or [height, width]. Each channel
/// is a plane. Throws kShapeMismatch for a field of any other shape; the error begins with `where`, which names the
/// transform.
inline ImageShape image_shape(const DatasetField& field, const std::string& where) {
  const std::size_t dimensions = field.shape.size();
  if (dimensions != 2 && dimensions != 3) {
    throw Error(Code::kShapeMismatch,
                "{}: the field '{}' is {}; allowed: images, [channels, height, width] or [height, width]", where,
                field.name, describe(field));
  }
  const auto extent = [&](std::size_t from_end) {
    return static_cast<std::size_t>(field.shape[dimensions - from_end]);
  };
  return {dimensions == 3 ? extent(3) : 1, extent(2), extent(1), size_of(static_cast<DType>(field.dtype))};
}

/// Returns `field`, which must be an image, with its numbers of rows and columns replaced by `height` and `width`.
inline DatasetField resized(DatasetField field, std::size_t height, std::size_t width) {
  const std::size_t dimensions = field.shape.size();
  field.shape[dimensions - 2] = static_cast<std::int64_t>(height);
  field.shape[dimensions - 1] = static_cast<std::int64_t>(width);
  return field;
}

/// Copies a window of `size` x `size` elements from each plane of `input` to `output`. `image` is the layout of
/// `input`; `output` has as many planes, of `size` rows and columns each. The top left corner of the window is in row
/// `top` and column `left` of the image; both may be negative. Elements of the window that are outside the image become
/// zero.
inline void copy_window(const ImageShape& image, std::span<const std::byte> input, std::span<std::byte> output,
                        std::size_t size, std::ptrdiff_t top, std::ptrdiff_t left) {
  const auto inside = [](std::ptrdiff_t value, std::size_t most) {
    return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(value, 0, static_cast<std::ptrdiff_t>(most)));
  };
  const auto edge = static_cast<std::ptrdiff_t>(size);
  const std::size_t first_column = inside(left, image.width);
  const std::size_t columns = inside(left + edge, image.width) - first_column;
  const std::size_t before = static_cast<std::size_t>(std::max<std::ptrdiff_t>(-left, 0)) * image.element_bytes;
  if (columns < size) std::memset(output.data(), 0, output.size());
  std::byte* target = output.data();
  for (std::size_t plane = 0; plane < image.planes; ++plane) {
    const std::byte* source = input.data() + plane * image.plane_bytes() + first_column * image.element_bytes;
    for (std::ptrdiff_t row = top; row < top + edge; ++row, target += size * image.element_bytes) {
      if (row >= 0 && row < static_cast<std::ptrdiff_t>(image.height)) {
        std::memcpy(target + before, source + static_cast<std::size_t>(row) * image.row_bytes(),
                    columns * image.element_bytes);
      } else {
        std::memset(target, 0, size * image.element_bytes);
      }
    }
  }
}

}  // namespace trainyard
