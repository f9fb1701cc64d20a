// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// A confusion matrix: how often a classifier predicted each class for the samples of each class in an evaluation.
/// Every accelerator host (the component that computes on the device of a rank) sends the counts of its own samples on
/// "/confusion" if the parameter `confusion_matrix` asks for it, and the receiver adds up the counts of all ranks. If
/// all ranks have the same samples, only rank 0 sends the message.
struct Confusion {
  static constexpr const char* kTypeName = "Confusion";

  static constexpr std::size_t kMaxClasses = 256;

  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;  ///< The number of ranks that send this message for the evaluation.
  std::uint64_t step = 0;   ///< The step whose parameters were evaluated.
  std::uint64_t epoch = 0;
  std::string split;
  std::int64_t time_ns = 0;  ///< When the message was sent, according to CLOCK_REALTIME.
  /// The names of the classes, in the order of their numbers. A class without a name is listed by its number.
  std::vector<std::string> classes;
  /// Element (right * classes.size() + predicted) counts the samples of the class `right` for which the model predicted
  /// the class `predicted`.
  std::vector<std::uint64_t> counts;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(ranks), CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(split),
            CEREAL_NVP(time_ns), CEREAL_NVP(classes), CEREAL_NVP(counts));
  }
};

/// The prediction of a classifier for one sample.
struct SampleResult {
  static constexpr const char* kTypeName = "SampleResult";

  std::uint64_t index = 0;  ///< The position of the sample in the evaluation of its rank, counted from 0.
  std::string right;        ///< The name or number of the right class.
  std::string predicted;    ///< The name or number of the class that the model predicted.
  double probability = 0;   ///< The probability that the model gives to the predicted class.
  /// The sample as a PNG image in base64 (RFC 4648); empty if it is not an image.
  std::string image;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(right), CEREAL_NVP(predicted), CEREAL_NVP(probability), CEREAL_NVP(image));
  }
};

/// The first samples of an evaluation with the predictions of a classifier. The accelerator host of rank 0 sends this
/// message on "/samples" if the parameter `samples_per_validation` asks for it. The samples are the same in every
/// evaluation of a split, so that they can be compared over time.
struct SampleResults {
  static constexpr const char* kTypeName = "SampleResults";

  static constexpr std::size_t kMaxSamples = 32;
  /// The largest width and height of an image, in pixels; larger images are scaled down.
  static constexpr std::int64_t kMaxImageSide = 128;

  std::uint64_t step = 0;  ///< The step whose parameters were evaluated.
  std::uint64_t epoch = 0;
  std::string split;
  std::int64_t time_ns = 0;  ///< When the message was sent, according to CLOCK_REALTIME.
  std::vector<SampleResult> samples;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(split), CEREAL_NVP(time_ns), CEREAL_NVP(samples));
  }
};

}  // namespace trainyard
