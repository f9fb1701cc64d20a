// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace trainyard {

/// A shuffled order of the numbers 0 to size - 1. The number at any place is computed directly, without a list.
///
/// A Feistel network of six keyed rounds permutes the smallest range of 2^k numbers that holds `size`. A result of
/// `size` or more is put through the network again until it is smaller (cycle walking, fewer than two passes on
/// average). The result is a permutation of 0 to size - 1.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t key);

  /// Returns the number at `place`, which must be < size.
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
