// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/words.h"

namespace trainyard {

/// The values that a histogram counts: those of a trainable tensor, those of its gradient, or the output of a layer.
enum class HistogramOf : std::uint8_t { kWeights, kGradients, kActivations };
constexpr auto words_of(HistogramOf) { return words("kind of histogram", "weights", "gradients", "activations"); }

/// How the values of one tensor are distributed.
///
/// All buckets are equally wide, and the width is a power of two: bucket i counts the values from (first + i) * width
/// up to, but not including, (first + i + 1) * width. Any two histograms can be added exactly, because two buckets at
/// the positions 2 k and 2 k + 1 can be merged into one bucket of twice the width, at the position k. The position of
/// bucket i is first + i.
struct Histogram {
  static constexpr const char* kTypeName = "Histogram";

  static constexpr std::size_t kMaxBuckets = 64;

  std::string name;  ///< The name of the tensor, such as "hidden.weight", or of the layer, such as "hidden".
  HistogramOf of = HistogramOf::kWeights;
  std::uint64_t elements = 0;    ///< The number of values, including those that are not finite.
  std::uint64_t not_finite = 0;  ///< The number of values that are infinite or not a number. No bucket counts them.
  // The following four numbers describe the finite values. They are 0 if there are none.
  double smallest = 0;
  double largest = 0;
  double mean = 0;
  double deviation = 0;    ///< The standard deviation: the root of the mean squared distance from the mean.
  double width = 1;        ///< The width of a bucket, a power of two.
  std::int64_t first = 0;  ///< The position of the first bucket, which begins at first * width.
  /// The number of values in each bucket; at most kMaxBuckets elements. The first and the last are not 0.
  std::vector<std::uint64_t> counts;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(of), CEREAL_NVP(elements), CEREAL_NVP(not_finite), CEREAL_NVP(smallest),
            CEREAL_NVP(largest), CEREAL_NVP(mean), CEREAL_NVP(deviation), CEREAL_NVP(width), CEREAL_NVP(first),
            CEREAL_NVP(counts));
  }
};

/// The histograms of the tensors of one rank after a step. Accelerator hosts (the components that compute on the
/// devices) send this message on "/histograms" if the parameter `histograms_every_steps` asks for it. If every rank has
/// all parameters, only rank 0 sends it. Otherwise every rank sends the histograms of its own part, and the receiver
/// adds up those that have the same name and the same kind (`of`).
struct Histograms {
  static constexpr const char* kTypeName = "Histograms";

  /// The maximum number of histograms in a message. If a model has more, only the first ones of each kind are included.
  static constexpr std::size_t kMaxHistograms = 2048;

  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;  ///< The number of ranks that send this message for the step.
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::int64_t time_ns = 0;  ///< When the message was sent, according to CLOCK_REALTIME.
  std::vector<Histogram> histograms;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(ranks), CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(time_ns),
            CEREAL_NVP(histograms));
  }
};

}  // namespace trainyard
