// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transforms/image.h"
#include "transforms/transform.h"

namespace trainyard::random_flip {

/// The directions in which an image can be mirrored.
enum class Direction : std::uint8_t { kHorizontal, kVertical };
constexpr auto words_of(Direction) { return words("direction", "horizontal", "vertical"); }

}  // namespace trainyard::random_flip

namespace trainyard {

/// A transform that mirrors randomly chosen images in training, and no images in evaluation.
///
/// Parameters  probability  0.5: the probability with which an image is mirrored
///             direction    horizontal (swaps left and right) | vertical (swaps top and bottom)
/// Input       an image, [channels, height, width] or [height, width], of any dtype
/// Output      an image of the same shape
/// Errors      kShapeMismatch (not an image)
class RandomFlip final : public Transform {
 public:
  explicit RandomFlip(TransformContext& context) : Transform(context) {}

  DatasetField prepare(const DatasetField& input) override;
  void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const override;

 private:
  Parameter<double> probability_{*this, "probability", 0.5, "probability that an image is mirrored", between(0, 1)};
  Parameter<random_flip::Direction> direction_{*this, "direction", random_flip::Direction::kHorizontal,
                                               "horizontal: left becomes right; vertical: top becomes bottom"};

  ImageShape image_;
};

}  // namespace trainyard
