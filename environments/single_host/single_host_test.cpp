// SPDX-License-Identifier: Apache-2.0
#include "environments/single_host/single_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/testing/facts.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::facts_with;

TEST(SingleHostTest, ItAlwaysFitsAndMeetsNobody) {
  const testing::UnderTest<SingleHost> single_host;
  EXPECT_TRUE(single_host.detect(facts_with({})).found);
  const Allocation allocation = single_host.allocation(facts_with({}, "here"));
  EXPECT_EQ(allocation.hosts, 1u);
  EXPECT_EQ(allocation.processes, 1u);
  EXPECT_THAT(allocation.names, ElementsAre("here"));
  EXPECT_FALSE(allocation.meeting);
}

}  // namespace
}  // namespace trainyard
