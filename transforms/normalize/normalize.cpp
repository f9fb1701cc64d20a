// SPDX-License-Identifier: Apache-2.0
#include "transforms/normalize/normalize.h"

#include "transforms/image.h"

namespace trainyard {

float Normalize::value_for(const std::vector<double>& values, std::size_t channel) const {
  return static_cast<float>(values.size() == 1 ? values.front() : values[channel]);
}

void Normalize::check_count(const char* name, const std::vector<double>& values, const DatasetField& input) const {
  if (values.size() == 1 || values.size() == channels_) return;
  throw Error(Code::kInvalidArgument, "{}: {} has {} values, but the field '{}' is {}; allowed: 1 or {}", where(), name,
              values.size(), input.name, describe(input), channels_);
}

DatasetField Normalize::prepare(const DatasetField& input) {
  const auto dtype = static_cast<DType>(input.dtype);
  if (dtype != DType::kUInt8 && dtype != DType::kFloat32) {
    throw Error(Code::kShapeMismatch, "{}: the field '{}' is {}; allowed: uint8 and float32", where(), input.name,
                describe(input));
  }
  bytes_ = dtype == DType::kUInt8;
  channels_ = input.shape.empty() ? 1 : static_cast<std::size_t>(input.shape.front());
  const std::size_t elements = checked_bytes(dtype, input.shape) / size_of(dtype);
  per_channel_ = channels_ == 0 ? 0 : elements / channels_;
  check_count("mean", *mean_, input);
  check_count("std", *std_, input);
  // A byte has only 256 possible values, so a table replaces the divisions. The results are bit-identical.
  table_.resize(bytes_ ? channels_ : 0);
  for (std::size_t channel = 0; channel < table_.size(); ++channel) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const float scaled = static_cast<float>(byte) / 255.0f;
      table_[channel][byte] = (scaled - value_for(*mean_, channel)) / value_for(*std_, channel);
    }
  }
  DatasetField output = input;
  output.dtype = static_cast<std::uint8_t>(DType::kFloat32);
  return output;
}

void Normalize::apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom*) const {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  const auto* floats = reinterpret_cast<const float*>(input.data());
  auto* target = reinterpret_cast<float*>(output.data());
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    const std::size_t first = channel * per_channel_;
    if (bytes_) {
      const std::array<float, 256>& table = table_[channel];
      for (std::size_t i = first; i < first + per_channel_; ++i) target[i] = table[bytes[i]];
    } else {
      const float mean = value_for(*mean_, channel);
      const float deviation = value_for(*std_, channel);
      for (std::size_t i = first; i < first + per_channel_; ++i) target[i] = (floats[i] - mean) / deviation;
    }
  }
}

}  // namespace trainyard

TRAINYARD_TRANSFORM(trainyard::Normalize, "normalize", "Subtracts means, divides by deviations; bytes become floats.")
