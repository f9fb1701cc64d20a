// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"

namespace trainyard {

/// Generates data for tests and benchmarks: Gaussian clusters, one for each class. Generating them is very fast.
///
/// Sample i of a split has class i modulo `classes`. It is the centre of its class plus noise. The noise is the sum of
/// two pieces of one short table, cut at places that depend on the seed, the split and i. A sample therefore costs
/// little more than copying it, no sample is stored, and opening takes a millisecond whatever the number of samples.
/// Every machine and every rank with the same seed sees the same samples.
///
/// Some samples bear the label of another class. Without them, the clusters are so easy to tell apart that the loss
/// vanishes within a few steps. With a share p of them and k classes, the mean loss of samples that were not seen in
/// training cannot fall below -(1 - p) ln(1 - p) - p ln(p / (k - 1)), which is 0.54 for the defaults.
///
/// Parameters  samples           10000, of the split "train"
///             validate_samples  1000, of the split "validate"; 0 = no such split
///             test_samples      0, of the split "test"; 0 = no such split
///             features          784
///             shape             instead of features, such as [1, 28, 28]
///             classes           10
///             separation        1: standard deviation of the centres around zero, in every feature
///             noise             1: standard deviation around the centre
///             mislabelled       0.1: share of the samples that bear the label of another class
/// Fields      input             float32 [features] or `shape`
///             target            int64 []
class Synthetic final : public Dataset {
 public:
  explicit Synthetic(DatasetContext& context) : Dataset(context) {}

  DatasetTraits traits() const override { return {TargetKind::kClass}; }
  void open() override;
  DatasetInfo info() const override;
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  std::vector<std::int64_t> sample_shape() const;
  /// Returns the number of samples of a split; 0 for a split that does not exist.
  std::uint64_t samples_of(std::string_view split) const;
  /// The label that a sample of class `own` bears.
  std::int64_t label_of(std::int64_t own, std::string_view split, std::uint64_t index) const;

  Parameter<std::int64_t> samples_{*this, "samples", 10000, "samples of the split 'train'", positive()};
  Parameter<std::int64_t> validate_samples_{*this, "validate_samples", 1000,
                                            "samples of the split 'validate'; 0 = no such split", at_least(0)};
  Parameter<std::int64_t> test_samples_{*this, "test_samples", 0, "samples of the split 'test'; 0 = no such split",
                                        at_least(0)};
  Parameter<std::int64_t> features_{*this, "features", 784, "numbers in a sample", between(1, 1 << 28)};
  Parameter<std::vector<std::int64_t>> shape_{*this, "shape", std::vector<std::int64_t>{},
                                              "shape of a sample, instead of features", positive()};
  Parameter<std::int64_t> classes_{*this, "classes", 10, "number of clusters", between(1, 1 << 20)};
  Parameter<double> separation_{*this, "separation", 1, "standard deviation of the centres", at_least(0)};
  Parameter<double> noise_{*this, "noise", 1, "standard deviation around a centre", at_least(0)};
  Parameter<double> mislabelled_{*this, "mislabelled", 0.1,
                                 "share of the samples that bear the label of another class, so that the loss does not "
                                 "vanish; 0 = none",
                                 between(0, 1)};

  std::size_t width_ = 0;       ///< The number of values in a sample.
  std::vector<float> centres_;  ///< [classes, width]
  std::vector<float> table_;    ///< Noise. Samples use pieces of it, which begin at one of the first kPlaces numbers.
};

}  // namespace trainyard
