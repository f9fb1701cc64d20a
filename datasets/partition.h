// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/random/random.h"
#include "messages/words.h"

namespace trainyard {

/// The division of a dataset without predefined splits: some samples are for training, the others for validation.
struct Partition {
  std::vector<std::uint64_t> train;     ///< The samples for training, in ascending order.
  std::vector<std::uint64_t> validate;  ///< The samples for validation, in ascending order.
};

/// Divides the samples 0 to samples - 1 at random: round(fraction * samples) of them are for validation, the others for
/// training. `fraction` is between 0 and 1. The result depends only on the three arguments. Do not pass the seed of the
/// run as `seed`: if the run were repeated with another seed, it would train on samples that the first run used for
/// validation.
inline Partition drawn_partition(std::uint64_t samples, double fraction, std::uint64_t seed) {
  // Sorting by random keys draws without replacement.
  std::vector<std::uint64_t> order(samples);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  const std::uint64_t key = random_key(seed, "partition");
  std::ranges::sort(order, {}, [key](std::uint64_t sample) { return std::pair(random_bits(sample, key), sample); });
  const auto wanted = static_cast<std::uint64_t>(fraction * static_cast<double>(samples) + 0.5);
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, samples));
  Partition partition{{cut, order.end()}, {order.begin(), cut}};
  std::ranges::sort(partition.train);
  std::ranges::sort(partition.validate);
  return partition;
}

/// Divides the samples 0 to samples - 1 by their order: the last round(fraction * samples) are for validation, the
/// others for training. `fraction` is between 0 and 1. Use this function for data that is ordered by time.
inline Partition tail_partition(std::uint64_t samples, double fraction) {
  const auto wanted = static_cast<std::uint64_t>(fraction * static_cast<double>(samples) + 0.5);
  Partition partition;
  partition.train.resize(samples - std::min(wanted, samples));
  partition.validate.resize(samples - partition.train.size());
  std::iota(partition.train.begin(), partition.train.end(), std::uint64_t{0});
  std::iota(partition.validate.begin(), partition.validate.end(), std::uint64_t{partition.train.size()});
  return partition;
}

/// The ways to divide samples into samples for training and samples for validation.
enum class Division : std::uint8_t {
  kRandom,  ///< The samples for validation are drawn at random.
  kTail,    ///< The last samples of the dataset are for validation.
};
constexpr auto words_of(Division) { return words("way to divide the samples", "random", "tail"); }

/// Calls drawn_partition() or tail_partition(), as `division` specifies. Only kRandom uses `seed`.
inline Partition partition_of(std::uint64_t samples, Division division, double fraction, std::uint64_t seed) {
  return division == Division::kTail ? tail_partition(samples, fraction) : drawn_partition(samples, fraction, seed);
}

}  // namespace trainyard
