#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/image_folder/picture.h"

namespace trainyard {

/// A part of a picture, in its pixels; (0, 0) is the top left corner of the top left pixel.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// Brings planes to another size, as Pillow's BILINEAR does: every new pixel is the average of those below a triangle
/// that is two new pixels wide, so nothing is skipped when a picture shrinks. Keeps its memory; one thread at a time.
class Resampler {
 public:
  /// Writes `size` x `size` pixels of the part `box` of the picture.
  void resample(const Plane& plane, const Box& box, std::size_t size, std::uint8_t* target);

 private:
  /// How one row (or column) comes about: `taps` old ones from `first` on, each with a weight.
  struct Weights {
    std::vector<std::size_t> first;
    std::vector<std::int16_t> weights;  ///< `stride` for each; those behind the taps are zero.
    std::size_t taps = 0;
    std::size_t stride = 0;
  };
  void weigh(std::size_t old_size, double from, double to, std::size_t new_size, Weights& weights);

  Weights rows_;
  Weights columns_;
  std::vector<double> exact_;           ///< Weights of one new pixel.
  std::vector<std::int32_t> sums_;      ///< Of one row.
  std::vector<std::uint8_t> squeezed_;  ///< One new row, with the old columns.
};

}  // namespace trainyard
