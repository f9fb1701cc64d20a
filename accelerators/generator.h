#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>

namespace trainyard {

// What accelerators do with a random generator of LibTorch, each under the generator's own lock.

void seed_generator(at::Generator generator, std::uint64_t seed);

/// Everything that is needed to draw on from here.
std::vector<std::uint8_t> state_of_generator(at::Generator generator);

/// The inverse. Throws kCorrupt for a state of another length, naming both; `where` opens the message.
void restore_generator(at::Generator generator, const std::vector<std::uint8_t>& state, const std::string& where);

// The same for devices that have a generator of their own beside the CPU's: the states follow each other, each behind
// its length in 8 bytes.

std::vector<std::uint8_t> state_of_generators(const std::vector<at::Generator>& generators);

/// Throws kCorrupt for states of another number of generators, or of other lengths.
void restore_generators(const std::vector<at::Generator>& generators, const std::vector<std::uint8_t>& states,
                        const std::string& where);

}  // namespace trainyard
