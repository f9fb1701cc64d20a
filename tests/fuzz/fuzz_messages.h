#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainyard::testing {

/// Feeds bytes that nobody vouches for to everything that reads them: the first byte picks the reader, the rest is its
/// input. Refusal by Error is fine; anything else ends the program, as does an accepted input that does not come back.
void fuzz_messages(std::span<const std::uint8_t> input);

/// How many readers there are; a first byte of at least that picks modulo it.
std::size_t fuzz_targets();

/// Valid inputs for every reader, to start from. The same ones every time.
std::vector<std::string> fuzz_corpus();

}  // namespace trainyard::testing
