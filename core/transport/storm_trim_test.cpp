// SPDX-License-Identifier: Apache-2.0
#include "core/transport/storm_trim.h"

#include <gtest/gtest.h>

#include "core/testing/freed_memory.h"

namespace trainyard::core {
namespace {

using testing::FreedMemory;
using testing::resident_bytes;

constexpr std::uint64_t kMuch = FreedMemory::kBytes;

class StormTrimTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!FreedMemory::kCanReturn) GTEST_SKIP() << "the allocators of sanitizers keep freed memory";
  }
};

TEST_F(StormTrimTest, ReturnsMemoryOnceWhenTheStormIsOver) {
  StormTrim trim;
  const FreedMemory freed;
  const std::uint64_t before = resident_bytes();
  trim.check(/*unread=*/kMuch);
  trim.check(/*unread=*/0);
  EXPECT_LT(resident_bytes(), before - kMuch / 2);
}

TEST_F(StormTrimTest, ManyMessagesAreAStormToo) {
  StormTrim trim;
  const FreedMemory freed;
  const std::uint64_t before = resident_bytes();
  trim.add(100'000);
  trim.check(0);
  trim.check(0);
  EXPECT_LT(resident_bytes(), before - kMuch / 2);
}

TEST_F(StormTrimTest, WithoutAStormNothingIsDone) {
  StormTrim trim;
  const FreedMemory freed;
  const std::uint64_t before = resident_bytes();
  trim.add(10);
  for (int i = 0; i < 3; ++i) trim.check(1000);
  EXPECT_GT(resident_bytes(), before - kMuch / 2);
}

}  // namespace
}  // namespace trainyard::core
