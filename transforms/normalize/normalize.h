// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "transforms/transform.h"

namespace trainyard {

/// A transform that turns every value into (value - mean) / std, as float32. Bytes are first scaled to [0, 1]. The
/// operations are done in single precision and in this order, so the results are bit-identical to torchvision's.
///
/// Each entry of the first dimension, such as a channel of an image or a column of a table, can have its own mean and
/// standard deviation.
///
/// Parameters  mean    [0]; one for all, or one for each entry of the first dimension
///             std     [1]; one for all, or one for each entry of the first dimension; > 0
/// Input       uint8 or float32 of any shape
/// Output      float32 of the same shape
/// Errors      kShapeMismatch (a different dtype), kInvalidArgument (a number of means or deviations that does not fit)
class Normalize final : public Transform {
 public:
  explicit Normalize(TransformContext& context) : Transform(context) {}

  DatasetField prepare(const DatasetField& input) override;
  void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const override;

 private:
  float value_for(const std::vector<double>& values, std::size_t channel) const;
  void check_count(const char* name, const std::vector<double>& values, const DatasetField& input) const;

  Parameter<std::vector<double>> mean_{*this, "mean", std::vector<double>{0},
                                       "mean to subtract; one value, or one for each channel"};
  Parameter<std::vector<double>> std_{*this, "std", std::vector<double>{1},
                                      "standard deviation to divide by; one value, or one for each channel",
                                      positive()};

  bool bytes_ = false;                         ///< True if the input is uint8.
  std::size_t channels_ = 1;                   ///< The extent of the first dimension.
  std::size_t per_channel_ = 1;                ///< The number of elements in each channel.
  std::vector<std::array<float, 256>> table_;  ///< For each channel: the result for every possible byte.
};

}  // namespace trainyard
