// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"

namespace trainyard {

/// A dataset for tests and benchmarks that generates its samples when they are read. The samples of each class form a
/// Gaussian cluster.
///
/// Sample i of a split has class i modulo `classes`. Its values are the centre of the cluster plus noise. The noise is
/// the sum of two sections of a short table of random numbers; the seed, the split and i determine where the sections
/// begin. Generating a sample therefore takes little more time than copying it. No sample is stored, so the time for
/// opening the dataset does not depend on the number of samples. With the same seed, all machines and ranks generate
/// the same samples.
///
/// Some samples are mislabelled: they have the label of another class. Without such samples, the clusters are so easy
/// to distinguish that the loss vanishes within a few steps. If a share p of the samples is mislabelled and there are k
/// classes, the expected loss on samples that were not used in training cannot fall below this value:
///
///    -(1 - p) ln(1 - p) - p ln(p / (k - 1))
///
/// With the default parameters, it is 0.54.
///
/// Parameters  samples           10000: number of samples in the split "train"
///             validate_samples  1000: number of samples in the split "validate"; 0 = no such split
///             test_samples      0: number of samples in the split "test"; 0 = no such split
///             features          784: number of values in a sample
///             shape             the shape of a sample, such as [1, 28, 28]; replaces `features`
///             classes           10
///             separation        1: standard deviation of the centres around zero, in every feature
///             noise             1: standard deviation around the centre
///             mislabelled       0.1: share of the samples that have the label of another class
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
  /// Returns the label of a sample of class `own`: the class itself, or another class if the sample is mislabelled.
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
                                 "share of the samples that have the label of another class, so that the loss does not "
                                 "vanish; 0 = none",
                                 between(0, 1)};

  std::size_t width_ = 0;       ///< The number of values in a sample.
  std::vector<float> centres_;  ///< [classes, width]
  /// Random numbers for the noise. The table has `width_` numbers more than there are places at which a section can
  /// begin.
  std::vector<float> table_;
};

}  // namespace trainyard
