// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::accelerators {

/// Seeds a generator of LibTorch under the generator's own lock.
void seed_generator(at::Generator generator, std::uint64_t seed);

/// Returns the state of the generators. The state of a single generator has LibTorch's own format; several states
/// follow one another, each preceded by its length in 8 bytes.
std::vector<std::uint8_t> state_of_generators(const std::vector<at::Generator>& generators);

/// Restores the states returned by state_of_generators(). Throws kCorrupt if the number of generators or the lengths of
/// their states differ. The error text begins with `where` and contains the lengths.
void restore_generators(const std::vector<at::Generator>& generators, const std::vector<std::uint8_t>& states,
                        const std::string& where);

}  // namespace trainyard::accelerators
