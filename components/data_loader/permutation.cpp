// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/permutation.h"

#include <algorithm>
#include <bit>

#include "core/random/random.h"

namespace trainyard {

Permutation::Permutation(std::uint64_t size, std::uint64_t key) : size_(size) {
  const int bits = std::max(2, static_cast<int>(std::bit_width(size - 1)));
  low_bits_ = bits / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
  for (std::size_t round = 0; round < keys_.size(); ++round) keys_[round] = random_bits(round, key);
}

/// In each round, one half of the bits is combined (by XOR) with a function of the other half. A round can be undone by
/// repeating it, so the result is a permutation whatever random_bits() returns. If the number of bits is odd, one half
/// has one bit more.
std::uint64_t Permutation::pass(std::uint64_t number) const {
  std::uint64_t low = number & low_mask_;
  std::uint64_t high = number >> low_bits_;
  for (std::size_t round = 0; round < keys_.size(); round += 2) {
    low ^= random_bits(high, keys_[round]) & low_mask_;
    high ^= random_bits(low, keys_[round + 1]) & high_mask_;
  }
  return high << low_bits_ | low;
}

}  // namespace trainyard
