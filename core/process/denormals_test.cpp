// SPDX-License-Identifier: Apache-2.0
#include "core/process/denormals.h"

#include <fenv.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace trainyard::core {
namespace {

/// Returns half of the smallest normal number. `volatile` prevents the compiler from computing it.
float half_of_the_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5F;
}

TEST(DenormalsTest, AreFlushedOnAThreadAndOnThoseThatItStarts) {
  std::thread([] {
    ::fesetenv(FE_DFL_ENV);  // An earlier test of this program may have changed the mode that new threads inherit.
    EXPECT_GT(half_of_the_smallest(), 0) << "the processor computes with them unless it is told otherwise";
    flush_denormals();
#if !defined(__x86_64__) && !defined(__aarch64__)
    GTEST_SKIP() << "this processor has no such mode, or it is not known";
#endif
    EXPECT_TRUE(flushes_denormals());
    EXPECT_EQ(half_of_the_smallest(), 0);
    std::thread([] {
      EXPECT_TRUE(flushes_denormals());
      EXPECT_EQ(half_of_the_smallest(), 0);
    }).join();
  }).join();
}

}  // namespace
}  // namespace trainyard::core
