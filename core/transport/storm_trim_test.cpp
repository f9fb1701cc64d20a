// SPDX-License-Identifier: Apache-2.0
#include "core/transport/storm_trim.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace trainyard::core {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;
constexpr std::uint64_t kMuch = 64 * kMebibyte;

/// Returns the memory that this process occupies, in bytes.
std::uint64_t resident() {
  std::uint64_t all = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Memory that has been freed, but that the allocator keeps because a block after it is still in use.
class FreedMemory {
 public:
  FreedMemory() {
    constexpr std::size_t kBlock = 4096;
    std::vector<std::unique_ptr<char[]>> blocks;
    for (std::uint64_t bytes = 0; bytes < kMuch; bytes += kBlock) {
      blocks.push_back(std::make_unique<char[]>(kBlock));
      std::memset(blocks.back().get(), 1, kBlock);
    }
    last_ = std::make_unique<char[]>(kBlock);
  }

 private:
  std::unique_ptr<char[]> last_;
};

class StormTrimTest : public ::testing::Test {
 protected:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  void SetUp() override { GTEST_SKIP() << "the allocators of sanitizers keep freed memory"; }
#endif
};

TEST_F(StormTrimTest, ReturnsMemoryOnceWhenTheStormIsOver) {
  StormTrim trim;
  const FreedMemory freed;
  const std::uint64_t before = resident();
  trim.check(/*unread=*/kMuch);
  trim.check(/*unread=*/0);
  EXPECT_LT(resident(), before - kMuch / 2);
}

TEST_F(StormTrimTest, ManyMessagesAreAStormToo) {
  StormTrim trim;
  const FreedMemory freed;
  const std::uint64_t before = resident();
  trim.add(100'000);
  trim.check(0);
  trim.check(0);
  EXPECT_LT(resident(), before - kMuch / 2);
}

TEST_F(StormTrimTest, WithoutAStormNothingIsDone) {
  StormTrim trim;
  const FreedMemory freed;
  const std::uint64_t before = resident();
  trim.add(10);
  for (int i = 0; i < 3; ++i) trim.check(1000);
  EXPECT_GT(resident(), before - kMuch / 2);
}

}  // namespace
}  // namespace trainyard::core
