// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainyard::testing {

/// Feeds untrusted bytes to everything that reads such bytes: the first byte picks the reader, the rest is its input.
/// Refusal by an Error is fine. Anything else ends the program, and so does an accepted input that does not come back
/// the same.
void fuzz_messages(std::span<const std::uint8_t> input);

/// Returns the number of readers. A larger first byte picks modulo it.
std::size_t fuzz_targets();

/// Valid inputs for every reader, from which mutations start. They are the same every time.
std::vector<std::string> fuzz_corpus();

}  // namespace trainyard::testing
