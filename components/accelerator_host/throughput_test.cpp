// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/throughput.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

using std::chrono::seconds;

TEST(ThroughputTest, PausesDoNotCount) {
  Throughput throughput;
  const Throughput::Clock::time_point start{};
  throughput.resume(start);
  throughput.add(100);
  throughput.pause(start + seconds(2));
  throughput.resume(start + seconds(60));
  throughput.add(100);
  EXPECT_DOUBLE_EQ(throughput.take(start + seconds(62)), 50);
}

TEST(ThroughputTest, TakingStartsTheNextInterval) {
  Throughput throughput;
  const Throughput::Clock::time_point start{};
  throughput.resume(start);
  throughput.resume(start + seconds(1));
  throughput.add(30);
  EXPECT_DOUBLE_EQ(throughput.take(start + seconds(3)), 10);
  throughput.add(8);
  EXPECT_DOUBLE_EQ(throughput.take(start + seconds(5)), 4);
}

TEST(ThroughputTest, NothingInNoTimeIsZero) {
  Throughput throughput;
  EXPECT_EQ(throughput.take({}), 0);
  throughput.add(5);
  EXPECT_EQ(throughput.take({}), 0);
}

}  // namespace
}  // namespace trainyard
