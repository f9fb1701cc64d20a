// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainyard::testing {

/// Passes untrusted bytes to one of the functions that decode or parse such bytes in Trainyard (the readers). The first
/// byte selects the reader, and the other bytes are its input. The reader may refuse the input by throwing an Error.
/// The program aborts if the reader fails in any other way, or if an accepted input changes when it is written and read
/// again.
void fuzz_messages(std::span<const std::uint8_t> input);

/// Returns the number of readers. The first byte of an input, modulo this number, selects the reader.
std::size_t fuzz_targets();

/// Returns valid inputs for every reader, from which mutations start. The result is always the same.
std::vector<std::string> fuzz_corpus();

}  // namespace trainyard::testing
