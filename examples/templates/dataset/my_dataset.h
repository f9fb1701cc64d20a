// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "datasets/dataset.h"

namespace example {

/// A dataset with generated samples of two classes: numbers around -1 or around 1. Replace open(), info() and read()
/// with functions for your own data.
class MyDataset final : public trainyard::Dataset {
 public:
  explicit MyDataset(trainyard::DatasetContext& context) : Dataset(context) {}

  trainyard::DatasetTraits traits() const override { return {trainyard::TargetKind::kClass}; }

  /// Called once, before info() and read(). A real dataset opens its files here, and throws an Error that names the
  /// file if one is missing.
  void open() override {}

  trainyard::DatasetInfo info() const override;

  /// Writes sample `index` of the split into `fields`, which are in the memory of the batch. Several threads call this
  /// function at the same time.
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  std::uint64_t samples(std::string_view split) const;

  trainyard::Parameter<std::int64_t> samples_{*this, "samples", 10'000, "number of samples for training",
                                              trainyard::positive()};
  trainyard::Parameter<std::int64_t> features_{*this, "features", 32, "numbers in a sample", trainyard::positive()};
};

}  // namespace example
