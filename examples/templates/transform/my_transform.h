// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "transforms/transform.h"

namespace example {

/// Multiplies every number by a factor, and in training also by a random factor.
class MyTransform final : public trainyard::Transform {
 public:
  explicit MyTransform(trainyard::TransformContext& context) : Transform(context) {}

  /// Called once. Checks the field, and returns the description of the transformed field. Throws an Error if the field
  /// is not suitable.
  trainyard::DatasetField prepare(const trainyard::DatasetField& input) override;

  /// Computes the transformed field. `random` is null in evaluation. Called for every sample, by several threads at the
  /// same time; it must not allocate memory.
  void apply(std::span<const std::byte> input, std::span<std::byte> output,
             trainyard::TransformRandom* random) const override;

 private:
  trainyard::Parameter<double> factor_{*this, "factor", 1.0, "what every number is multiplied by"};
  trainyard::Parameter<double> spread_{*this, "spread", 0.1, "how far the factor varies at random, as a share of it",
                                       trainyard::between(0, 1)};
};

}  // namespace example
