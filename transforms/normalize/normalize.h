#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "transforms/transform.h"

namespace trainyard {

/// Makes float32: (value - mean) / std, in single precision and in this order, as torchvision calculates. Bytes are
/// first scaled to [0, 1]; floats are taken as they are.
///
/// The first dimension of the field (channels of an image, columns of a table) may have a mean and std each.
///
/// Parameters  mean    [0]; one for all, or one for each of the first dimension
///             std     [1]; likewise; > 0
/// Input       uint8 or float32 of any shape
/// Output      float32 of the same shape
/// Errors      kShapeMismatch (another dtype), kInvalidArgument (a number of means that does not fit)
class Normalize final : public Transform {
 public:
  explicit Normalize(TransformContext& context) : Transform(context) {}

  DatasetField prepare(const DatasetField& input) override;
  void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const override;

 private:
  float value_for(const std::vector<double>& values, std::size_t channel) const;
  void check_count(const char* name, const std::vector<double>& values, const DatasetField& input) const;

  Parameter<std::vector<double>> mean_{*this, "mean", std::vector<double>{0}, "subtracted; one, or one per channel"};
  Parameter<std::vector<double>> std_{*this, "std", std::vector<double>{1}, "divided by, after the mean; likewise",
                                      positive()};

  bool bytes_ = false;                         ///< The input is uint8.
  std::size_t channels_ = 1;                   ///< The first dimension.
  std::size_t per_channel_ = 1;                ///< Elements of each.
  std::vector<std::array<float, 256>> table_;  ///< What a byte becomes, per channel.
};

}  // namespace trainyard
