// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::accelerators {

/// Seeds a LibTorch generator while holding the generator's mutex, as LibTorch requires.
void seed_generator(at::Generator generator, std::uint64_t seed);

/// Returns the states of the generators. The state of a single generator is returned in LibTorch's own format. The
/// states of several generators follow one another, each preceded by its length in bytes as a 64-bit number.
std::vector<std::uint8_t> state_of_generators(const std::vector<at::Generator>& generators);

/// Restores the states returned by state_of_generators(). Throws kCorrupt if `states` does not contain one state of the
/// right length for each of the `generators`, or if a state is damaged. Every error text begins with `where`.
void restore_generators(const std::vector<at::Generator>& generators, const std::vector<std::uint8_t>& states,
                        const std::string& where);

}  // namespace trainyard::accelerators
