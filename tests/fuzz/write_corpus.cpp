// SPDX-License-Identifier: Apache-2.0
// Writes the valid inputs from which a fuzzer starts, each to a file: `trainyard_fuzz_corpus FOLDER`.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/fuzz_messages.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& input : trainyard::testing::fuzz_corpus()) {
    std::ofstream(folder / std::to_string(number++), std::ios::binary) << input;
  }
  std::printf("%d inputs in %s\n", number, folder.c_str());
  return 0;
}
