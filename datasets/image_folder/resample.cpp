// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/resample.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "core/compiler/target_clones.h"

namespace trainyard::image_folder {
namespace {

/// Weights are fractions of 2^14, so that they fit into 16 bits and sums of products into 32.
constexpr int kBits = 14;
constexpr std::int32_t kOne = 1 << kBits;
constexpr std::int32_t kHalf = kOne / 2;

/// The weights for a column are processed in groups of this size. The last group is filled up with weights of zero.
constexpr std::size_t kGroup = 8;

/// Compiles a function for processors with and without AVX2. The version for this processor is chosen when the library
/// is loaded. The functions compute with integers, so the results are the same on every machine.
#define TRAINYARD_PIXEL_KERNEL TRAINYARD_TARGET_CLONES("default", "avx2")

/// Adds weight * pixels to `sums`, element by element.
TRAINYARD_PIXEL_KERNEL void add_row(const std::uint8_t* pixels, std::int16_t weight, std::size_t width,
                                    std::int32_t* sums) {
  for (std::size_t x = 0; x < width; ++x) {
    sums[x] += static_cast<std::int16_t>(pixels[x]) * weight;
  }
}

TRAINYARD_PIXEL_KERNEL void round_row(const std::int32_t* sums, std::size_t width, std::uint8_t* target) {
  for (std::size_t x = 0; x < width; ++x) target[x] = static_cast<std::uint8_t>(sums[x] >> kBits);
}

/// Returns the sum of kGroup products of pixels and weights. x86-64 has an instruction for this that compilers do not
/// choose on their own.
std::int32_t weighted_sum(const std::uint8_t* pixels, const std::int16_t* weights) {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixels));
  const __m128i words = _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
  const __m128i four = _mm_madd_epi16(words, _mm_loadu_si128(reinterpret_cast<const __m128i*>(weights)));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));      // Swaps the halves,
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));  // then the neighbours.
#else
  std::int32_t sum = 0;
  for (std::size_t tap = 0; tap < kGroup; ++tap) sum += pixels[tap] * weights[tap];
  return sum;
#endif
}

/// Scales one row horizontally. Usually, one group of weights per new pixel is enough.
void shrink_row(const std::uint8_t* row, const std::size_t* first, const std::int16_t* weights, std::size_t taps,
                std::size_t size, std::uint8_t* target) {
  for (std::size_t x = 0; x < size; ++x) {
    std::int32_t sum = kHalf;
    for (std::size_t tap = 0; tap < taps; tap += kGroup, weights += kGroup) {
      sum += weighted_sum(row + first[x] + tap, weights);
    }
    target[x] = static_cast<std::uint8_t>(sum >> kBits);
  }
}

double triangle(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

/// Rounds `exact` to fixed point, with a sum of exactly one, so that a picture of one colour keeps its colour.
void round_weights(const double* exact, std::size_t count, std::int16_t* weights) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += exact[i];
  std::int32_t left = kOne;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    weights[i] = static_cast<std::int16_t>(std::lround(exact[i] / sum * kOne));
    left -= weights[i];
    if (weights[i] > weights[largest]) largest = i;
  }
  weights[largest] = static_cast<std::int16_t>(weights[largest] + left);
}

}  // namespace

void Resampler::weigh(std::size_t old_size, double from, double to, std::size_t new_size, Weights& weights) {
  const double scale = (to - from) / static_cast<double>(new_size);
  const double reach = std::max(scale, 1.0);  // Half the width of the triangle, in old pixels.
  // All new rows have the same number of taps, which keeps the loops simple. Near an edge, the window of old rows is
  // moved inwards.
  weights.taps = std::min(old_size, static_cast<std::size_t>(std::ceil(reach)) * 2 + 1);
  weights.first.resize(new_size);
  weights.stride = (weights.taps + kGroup - 1) / kGroup * kGroup;
  weights.weights.assign(new_size * weights.stride, 0);
  exact_.resize(weights.taps);
  for (std::size_t i = 0; i < new_size; ++i) {
    const double center = from + (static_cast<double>(i) + 0.5) * scale;
    const double last_start = static_cast<double>(old_size - weights.taps);
    const double start = std::clamp(std::floor(center - reach + 0.5), 0.0, last_start);
    for (std::size_t tap = 0; tap < weights.taps; ++tap) {
      exact_[tap] = triangle((start + static_cast<double>(tap) + 0.5 - center) / reach);
    }
    weights.first[i] = static_cast<std::size_t>(start);
    round_weights(exact_.data(), weights.taps, &weights.weights[i * weights.stride]);
  }
}

/// Scales vertically first, because processors add whole rows quickly, and horizontally afterwards, when fewer pixels
/// are left.
void Resampler::resample(const Plane& plane, const Box& box, std::size_t size, std::uint8_t* target) {
  weigh(plane.height, box.top * plane.scale_y, box.bottom * plane.scale_y, size, rows_);
  weigh(plane.width, box.left * plane.scale_x, box.right * plane.scale_x, size, columns_);
  const std::size_t first = columns_.first.front();
  const std::size_t width = columns_.first.back() + columns_.taps - first;  // The columns that are needed.
  sums_.resize(width);
  squeezed_.resize(width +
                   columns_.stride);  // The last group of weights may reach beyond the row; these weights are zero.
  for (std::size_t& start : columns_.first) start -= first;
  for (std::size_t row = 0; row < size; ++row, target += size) {
    std::fill(sums_.begin(), sums_.end(), kHalf);
    for (std::size_t tap = 0; tap < rows_.taps; ++tap) {
      const std::int16_t weight = rows_.weights[row * rows_.stride + tap];
      if (weight == 0) continue;
      add_row(plane.pixels + (rows_.first[row] + tap) * plane.stride + first, weight, width, sums_.data());
    }
    round_row(sums_.data(), width, squeezed_.data());
    shrink_row(squeezed_.data(), columns_.first.data(), columns_.weights.data(), columns_.stride, size, target);
  }
}

}  // namespace trainyard::image_folder
