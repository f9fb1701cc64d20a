// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainyard::testing {

/// Passes untrusted bytes to the code that reads such bytes: the first byte selects the reader, the rest is its input.
/// A reader may refuse the input by throwing an Error. Anything else ends the program, and so does an accepted input
/// that is not the same after it has been written and read again.
void fuzz_messages(std::span<const std::uint8_t> input);

/// Returns the number of readers. A larger first byte is taken modulo this number.
std::size_t fuzz_targets();

/// Returns valid inputs for every reader, from which mutations start. They are the same every time.
std::vector<std::string> fuzz_corpus();

}  // namespace trainyard::testing
