// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/image_folder/picture.h"

namespace trainyard::image_folder {

/// A part of a picture, measured in pixels. (0, 0) is the top left corner of the top left pixel.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// Scales planes to another size, with the same filter as Pillow's BILINEAR. Every new pixel is a weighted average of
/// old pixels, in which the weights form a triangle. If the picture is made smaller, the base of the triangle is two
/// new pixels wide, so that no old pixel is skipped; if it is made larger, the base is two old pixels wide. A resampler
/// reuses its memory from one plane to the next, and can be used by only one thread at a time.
class Resampler {
 public:
  /// Scales the part `box` of a plane to `size` x `size` pixels and writes them to `target`, row by row. `box` is
  /// measured in pixels of the whole picture, even if the plane is stored at a smaller size.
  void resample(const Plane& plane, const Box& box, std::size_t size, std::uint8_t* target);

 private:
  /// The weights with which new rows (or columns) are computed. New row i is the weighted sum of `taps` consecutive old
  /// rows, starting with row `first[i]`.
  struct Weights {
    std::vector<std::size_t> first;
    /// For each new row, `stride` weights. Only the first `taps` weights of a row are used; the others are zero.
    std::vector<std::int16_t> weights;
    std::size_t taps = 0;
    std::size_t stride = 0;
  };
  void weigh(std::size_t old_size, double from, double to, std::size_t new_size, Weights& weights);

  Weights rows_;
  Weights columns_;
  std::vector<double> exact_;           ///< The weights of one new pixel, before they are rounded.
  std::vector<std::int32_t> sums_;      ///< The weighted sums of one row, before they are rounded.
  std::vector<std::uint8_t> squeezed_;  ///< One row that has been scaled vertically but not yet horizontally.
};

}  // namespace trainyard::image_folder
