// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "messages/error.h"

namespace trainyard::test_device {
namespace {

constexpr std::size_t kGrain = Memory::kGrain;

std::string refusal(Memory& memory, std::size_t bytes) {
  try {
    memory.take(bytes, "gradients");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnsupported);
    return error.what();
  }
  return "no error";
}

bool is_zero(const std::byte* data, std::size_t bytes) {
  return std::ranges::all_of(std::span(data, bytes), [](std::byte b) { return b == std::byte{0}; });
}

TEST(TestDeviceMemoryTest, TheProcessorCannotReadOrWriteItsAddresses) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto memory = Memory::make(kGrain);
  const std::size_t offset = memory->take(kGrain, "parameters");
  // By SIGSEGV, or by a sanitizer that has caught it.
  EXPECT_DEATH(*const_cast<volatile std::byte*>(memory->address(offset)), "");
  EXPECT_DEATH(std::memset(memory->address(offset), 1, 1), "");
  std::memset(memory->window(offset), 1, kGrain);
}

TEST(TestDeviceMemoryTest, AnErrorAboutExhaustedMemoryNamesItsHoldersTheLargestFirst) {
  const auto memory = Memory::make(4 * kGrain);
  memory->take(1, "exp_avg");
  memory->take(2 * kGrain, "parameters");
  EXPECT_EQ(
      refusal(*memory, 2 * kGrain),
      "the test device has no room for 8192 bytes of gradients: 12288 of 16384 bytes are in use: parameters 8192, "
      "exp_avg 4096");
  EXPECT_EQ(refusal(*memory, kGrain), "no error");
  EXPECT_THAT(refusal(*memory, ~std::size_t{0}), ::testing::HasSubstr("no room for 18446744073709551615 bytes"));
}

TEST(TestDeviceMemoryTest, FreedMemoryIsUsedAgainAndIsZero) {
  const auto memory = Memory::make(3 * kGrain);
  const std::size_t first = memory->take(kGrain, "a");
  const std::size_t second = memory->take(kGrain, "b");
  std::memset(memory->window(first), 1, kGrain);
  std::memset(memory->window(second), 1, kGrain);
  memory->give_back(first);
  memory->give_back(second);
  EXPECT_EQ(memory->used(), 0u);
  const std::size_t both = memory->take(3 * kGrain, "c");
  EXPECT_EQ(both, 0u);
  EXPECT_TRUE(is_zero(memory->window(both), 3 * kGrain));
}

/// The test itself keeps a list of the pages that are in use, and compares it with the offsets that take() returns.
TEST(TestDeviceMemoryTest, BlocksNeverOverlapInAnyOrderOfTakingAndGivingBack) {
  constexpr std::size_t kPages = 32;
  const auto memory = Memory::make(kPages * kGrain);
  std::mt19937 random(7);
  std::vector<int> owner(kPages, 0);
  std::vector<std::pair<std::size_t, std::size_t>> blocks;  // Their offsets and sizes, in pages.
  for (int round = 1; round <= 2000; ++round) {
    if (!blocks.empty() && random() % 2 == 0) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      memory->give_back(blocks.back().first * kGrain);
      std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(blocks.back().first), blocks.back().second, 0);
      blocks.pop_back();
      continue;
    }
    const std::size_t pages = 1 + random() % 8;
    try {
      const std::size_t begin = memory->take(pages * kGrain, "block") / kGrain;
      for (std::size_t page = begin; page < begin + pages; ++page) ASSERT_EQ(std::exchange(owner.at(page), round), 0);
      blocks.emplace_back(begin, pages);
    } catch (const Error&) {
      const std::vector<int> hole(pages, 0);
      ASSERT_EQ(std::ranges::search(owner, hole).begin(), owner.end()) << pages << " pages would fit";
    }
  }
}

}  // namespace
}  // namespace trainyard::test_device
