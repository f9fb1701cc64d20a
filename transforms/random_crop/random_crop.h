#pragma once

#include <cstdint>

#include "transforms/image.h"
#include "transforms/transform.h"

namespace trainyard {

/// Cuts a square out of an image, every place of it as likely as any other; in evaluation the one in the middle.
///
/// With `padding` the image is thought to have that many rows and columns of zeros around it: size = 32, padding = 4 is
/// what CIFAR-10 is usually trained with. Zero is black before `normalize` and the mean behind it.
///
/// Parameters  size     required: rows and columns of the result
///             padding  0
/// Input       an image, [channels, height, width] or [height, width], of any dtype
/// Output      the same with `size` rows and columns
/// Errors      kShapeMismatch (no image; too small)
class RandomCrop final : public Transform {
 public:
  explicit RandomCrop(TransformContext& context) : Transform(context) {}

  DatasetField prepare(const DatasetField& input) override;
  void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const override;

 private:
  Parameter<std::int64_t> size_{*this, "size", kRequired, "rows and columns of the result", between(1, 1 << 16)};
  Parameter<std::int64_t> padding_{*this, "padding", 0, "rows and columns of zeros on every side, before",
                                   between(0, 1 << 16)};

  ImageShape image_;
};

}  // namespace trainyard
