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

/// Scales planes to another size as Pillow's BILINEAR does: every new pixel is an average of the old ones, weighted by
/// a triangle that is two new pixels wide, so that no pixel is skipped when a picture shrinks. A resampler keeps its
/// memory and serves one thread at a time.
class Resampler {
 public:
  /// Writes the part `box` of the picture as `size` x `size` pixels.
  void resample(const Plane& plane, const Box& box, std::size_t size, std::uint8_t* target);

 private:
  /// Says how new rows (or columns) are made: each is the weighted sum of `taps` old ones, of which `first` gives the
  /// first.
  struct Weights {
    std::vector<std::size_t> first;
    std::vector<std::int16_t> weights;  ///< `stride` weights for each new row; those behind the taps are zero.
    std::size_t taps = 0;
    std::size_t stride = 0;
  };
  void weigh(std::size_t old_size, double from, double to, std::size_t new_size, Weights& weights);

  Weights rows_;
  Weights columns_;
  std::vector<double> exact_;           ///< The weights of one new pixel.
  std::vector<std::int32_t> sums_;      ///< The sums of one row.
  std::vector<std::uint8_t> squeezed_;  ///< One new row, still with the old columns.
};

}  // namespace trainyard::image_folder
