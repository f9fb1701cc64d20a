#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "datasets/random.h"

namespace trainyard {

/// Which samples train and which validate, for data that comes without such a division.
struct Partition {
  std::vector<std::uint64_t> train;     ///< Sample numbers, ascending.
  std::vector<std::uint64_t> validate;  ///< The others, ascending.
};

/// Draws round(fraction * samples) of the samples for validation. `seed` is one of the division alone: a run that is
/// repeated with another seed must not train on what it validated on before. Sorting by random keys draws without
/// replacement, and which samples are drawn depends on nothing but the three arguments.
inline Partition drawn_partition(std::uint64_t samples, double fraction, std::uint64_t seed) {
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

/// The last round(fraction * samples) samples validate: for data whose order is time.
inline Partition tail_partition(std::uint64_t samples, double fraction) {
  const auto wanted = static_cast<std::uint64_t>(fraction * static_cast<double>(samples) + 0.5);
  Partition partition;
  partition.train.resize(samples - std::min(wanted, samples));
  partition.validate.resize(samples - partition.train.size());
  std::iota(partition.train.begin(), partition.train.end(), std::uint64_t{0});
  std::iota(partition.validate.begin(), partition.validate.end(), std::uint64_t{partition.train.size()});
  return partition;
}

}  // namespace trainyard
