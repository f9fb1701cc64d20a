// SPDX-License-Identifier: Apache-2.0
// The entry point for libFuzzer; CMakeLists.txt describes how to run it.
#include "tests/fuzz/fuzz_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trainyard::testing::fuzz_messages({data, size});
  return 0;
}
