// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transforms/image.h"
#include "transforms/transform.h"

namespace trainyard {

/// Cuts the square in the middle out of an image. If an odd number of rows or columns must be removed, half of it is
/// rounded to the nearest even integer. This is what torchvision's CenterCrop does, so results are the same.
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
