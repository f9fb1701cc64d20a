// SPDX-License-Identifier: Apache-2.0
// Runs fuzz_messages() with a fixed set of mutations. Unlike real fuzzing, this takes only a few seconds, uses the same
// inputs every time, and works with any compiler.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "tests/fuzz/fuzz_messages.h"

namespace trainyard::testing {
namespace {

/// Damages a valid input in one of the ways in which parsers often fail.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string input, const std::string& other) {
    for (std::size_t times = 1 + random_() % 3; times > 0 && input.size() > 1; --times) {
      // The first byte selects the reader and is not changed.
      const std::size_t at = 1 + random_() % (input.size() - 1);
      switch (random_() % 6) {
        case 0:
          input[at] = static_cast<char>(input[at] ^ (1 << (random_() % 8)));
          break;
        case 1:
          input.resize(at);
          break;
        case 2:
          input.insert(at, 1 + random_() % 9, static_cast<char>(random_()));
          break;
        case 3:
          input.erase(at, 1 + random_() % 9);
          break;
        case 4:
          overwrite_number(input, at);
          break;
        default:
          input = input.substr(0, at) + other.substr(random_() % other.size());
      }
    }
    return input;
  }

 private:
  /// Overwrites bytes with a number, at a position where a count or an extent may be.
  void overwrite_number(std::string& input, std::size_t at) {
    constexpr std::array<std::uint64_t, 7> kNumbers{0, 1, 0x7fffffff, 0xffffffff, 0x10000000, 1ull << 63, ~0ull >> 1};
    const std::uint64_t number = kNumbers[random_() % kNumbers.size()];
    const std::size_t width = random_() % 2 == 0 ? 4 : 8;
    input.replace(at, width, reinterpret_cast<const char*>(&number), width);
  }

  std::mt19937_64 random_;
};

void feed(const std::string& input) {
  fuzz_messages({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()});
}

TEST(FuzzTest, EveryReaderSurvivesItsCorpus) {
  for (const std::string& input : fuzz_corpus()) feed(input);
}

TEST(FuzzTest, EveryReaderSurvivesMutatedMessages) {
  const std::vector<std::string> corpus = fuzz_corpus();
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    Mutator mutator(i);
    for (int times = 0; times < 150; ++times) feed(mutator.mutate(corpus[i], corpus[(i + 1) % corpus.size()]));
  }
}

TEST(FuzzTest, EveryReaderSurvivesShortNoise) {
  std::mt19937_64 random(1);
  for (std::size_t target = 0; target < fuzz_targets(); ++target) {
    for (std::size_t length = 0; length < 64; ++length) {
      std::string input(1, static_cast<char>(target));
      for (std::size_t i = 0; i < length; ++i) input += static_cast<char>(random());
      feed(input);
    }
  }
}

TEST(FuzzTest, TheCorpusReachesEveryReader) {
  std::vector<bool> reached(fuzz_targets());
  for (const std::string& input : fuzz_corpus()) reached.at(static_cast<unsigned char>(input[0])) = true;
  EXPECT_EQ(std::count(reached.begin(), reached.end(), true), static_cast<std::ptrdiff_t>(fuzz_targets()));
}

}  // namespace
}  // namespace trainyard::testing
