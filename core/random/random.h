// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace trainyard {

/// Returns a counter-based random number of 64 bits. The number depends only on `counter` and `key`, not on the machine
/// or the order of calls. There is no state, so any position of a random stream can be computed directly. The function
/// is the finaliser of SplitMix64, which passes BigCrush on consecutive counters.
constexpr std::uint64_t random_bits(std::uint64_t counter, std::uint64_t key) {
  std::uint64_t bits = (counter + 1) * 0x9e3779b97f4a7c15 + key;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// Returns the key of the random stream that has this seed, name and number. Streams that differ in any of the three
/// are independent.
constexpr std::uint64_t random_key(std::uint64_t seed, std::string_view name, std::uint64_t number = 0) {
  std::uint64_t key = random_bits(seed, 0);
  for (const char letter : name) key = random_bits(static_cast<unsigned char>(letter), key);
  return random_bits(number, key);
}

/// Turns 64 random bits into a uniformly distributed integer in [0, bound), where `bound` > 0. The bias is less than
/// bound * 2^-64.
constexpr std::uint64_t random_below(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

/// Turns 64 random bits into a uniformly distributed number in (0, 1). Both ends are excluded, so the logarithm of the
/// number is finite.
constexpr double random_unit(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1.0p-52; }

}  // namespace trainyard
