// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transforms/image.h"
#include "transforms/transform.h"

namespace trainyard {

/// A transform that cuts a square out of an image. In training, every position of the square is equally likely; in
/// evaluation, the square is in the middle.
///
/// Before the crop, `padding` rows and columns of zeros are added on every side. CIFAR-10 is usually trained with a
/// `size` of 32 and a `padding` of 4. The zeros appear as black if this transform comes before `normalize`, and as the
/// mean colour if it comes after.
///
/// Parameters  size     required: rows and columns of the result
///             padding  0: rows and columns of zeros that are added on every side
/// Input       an image, [channels, height, width] or [height, width], of any dtype
/// Output      the image with `size` rows and columns
/// Errors      kShapeMismatch (not an image; too small)
class RandomCrop final : public Transform {
 public:
  explicit RandomCrop(TransformContext& context) : Transform(context) {}

  DatasetField prepare(const DatasetField& input) override;
  void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const override;

 private:
  Parameter<std::int64_t> size_{*this, "size", kRequired, "rows and columns of the result", between(1, 1 << 16)};
  Parameter<std::int64_t> padding_{
      *this, "padding", 0, "rows and columns of zeros to add on every side before cropping", between(0, 1 << 16)};

  ImageShape image_;
};

}  // namespace trainyard
