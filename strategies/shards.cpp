// SPDX-License-Identifier: Apache-2.0
#include "strategies/shards.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {

std::vector<std::uint64_t> shard_bounds(std::uint64_t bytes, std::uint32_t ranks) {
  const std::uint64_t units = bytes / Arena::kAlignment;
  std::vector<std::uint64_t> bounds;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) bounds.push_back(units * rank / ranks * Arena::kAlignment);
  bounds.push_back(bytes);
  return bounds;
}

std::vector<std::uint64_t> bounds_within(std::span<const std::uint64_t> bounds, std::uint64_t offset,
                                         std::uint64_t bytes, std::uint64_t element_bytes) {
  std::vector<std::uint64_t> inside;
  for (const std::uint64_t bound : bounds) {
    inside.push_back((std::clamp(bound, offset, offset + bytes) - offset) / element_bytes);
  }
  return inside;
}

std::string Holdings::text(std::uint32_t rank) const {
  const auto peak = [](std::uint64_t kept, std::uint64_t most) {
    return most > kept ? fmt::format(" (at most {})", most) : "";
  };
  return fmt::format("rank {} holds {} of {} parameter bytes{}, {} of {} gradient bytes{}", rank, parameters,
                     whole_parameters, peak(parameters, peak_parameters), gradients, whole_parameters,
                     peak(gradients, peak_gradients));
}

std::vector<Scalar> Holdings::scalars() const {
  return {{"parameter_bytes", static_cast<double>(parameters)},
          {"gradient_bytes", static_cast<double>(gradients)},
          {"parameter_peak_bytes", static_cast<double>(peak_parameters)},
          {"gradient_peak_bytes", static_cast<double>(peak_gradients)}};
}

}  // namespace trainyard
