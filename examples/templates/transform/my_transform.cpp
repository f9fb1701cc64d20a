// SPDX-License-Identifier: Apache-2.0
#include "transforms/my_transform/my_transform.h"

#include <cstring>

#include "messages/dtype.h"
#include "messages/error.h"

namespace example {

trainyard::DatasetField MyTransform::prepare(const trainyard::DatasetField& input) {
  if (input.dtype == static_cast<std::uint8_t>(trainyard::DType::kFloat32)) return input;
  throw trainyard::Error(trainyard::Code::kShapeMismatch, "{}: the field '{}' is not allowed; a field of type float32",
                         where(), input.name);
}

// `random` is null if nothing may be random, as in evaluations.
void MyTransform::apply(std::span<const std::byte> input, std::span<std::byte> output,
                        trainyard::TransformRandom* random) const {
  const double variation = random == nullptr ? 0 : *spread_ * (2 * random->unit() - 1);
  const auto factor = static_cast<float>(*factor_ * (1 + variation));
  for (std::size_t at = 0; at < input.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, input.data() + at, sizeof value);
    value *= factor;
    std::memcpy(output.data() + at, &value, sizeof value);
  }
}

}  // namespace example

TRAINYARD_TRANSFORM(example::MyTransform, "my_transform", "Multiplies every number by a factor.")
