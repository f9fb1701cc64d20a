// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace trainyard {

/// A random permutation of the numbers 0 to size - 1, which depends on `key`. The number at any position is computed
/// directly, without a list in memory.
///
/// A Feistel network of six keyed rounds permutes the numbers 0 to 2^k - 1, where 2^k is the smallest power of two that
/// is not less than `size`. If a result is not less than `size`, it is passed through the network again until it is
/// less (cycle walking). On average, this takes fewer than two passes.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t key);

  /// Returns the number at the position `place`, which must be < size.
  std::uint64_t operator()(std::uint64_t place) const {
    do place = pass(place);
    while (place >= size_);
    return place;
  }

 private:
  std::uint64_t pass(std::uint64_t number) const;

  std::uint64_t size_;
  int low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::array<std::uint64_t, 6> keys_{};
};

}  // namespace trainyard
