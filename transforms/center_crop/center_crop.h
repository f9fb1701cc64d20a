// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transforms/image.h"
#include "transforms/transform.h"

namespace trainyard {

/// A transform that cuts a square out of the middle of an image. The results are the same as those of torchvision's
/// CenterCrop: if an odd number of rows or columns must be removed, half of that number, rounded to the nearest even
/// integer, is removed at the top or on the left, and the rest on the opposite side.
///
/// Parameters  size    required: rows and columns of the result
/// Input       an image, [channels, height, width] or [height, width], of any dtype
/// Output      the image with `size` rows and columns
/// Errors      kShapeMismatch (not an image; too small)
class CenterCrop final : public Transform {
 public:
  explicit CenterCrop(TransformContext& context) : Transform(context) {}

  DatasetField prepare(const DatasetField& input) override;
  void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const override;

 private:
  Parameter<std::int64_t> size_{*this, "size", kRequired, "rows and columns of the result", between(1, 1 << 16)};

  ImageShape image_;
};

}  // namespace trainyard
