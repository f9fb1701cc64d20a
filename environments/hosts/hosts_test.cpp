// SPDX-License-Identifier: Apache-2.0
#include "environments/hosts/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/testing/facts.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::facts_with;
using ::testing::HasSubstr;

TEST(HostsTest, AHostFindsItselfInTheListOfTheLaunchFile) {
  const testing::UnderTest<Hosts> hosts(R"({"names": ["a", "b"], "meet_at": "10.0.0.1:7000"})");
  EXPECT_TRUE(hosts.detect(facts_with({})).found);
  const Allocation allocation = hosts.allocation(facts_with({}, "b"));
  EXPECT_EQ(allocation.host, 1u);
  EXPECT_EQ(allocation.hosts, 2u);
  EXPECT_EQ(allocation.meeting->host, "10.0.0.1");
  EXPECT_THAT(allocation.meeting->ports, ElementsAre(7000));
  EXPECT_EQ(hosts.error(facts_with({}, "c")),
            "engine: this host is called 'c', and none of the 2 hosts in the parameter 'names' have this name: a, b");
}

TEST(HostsTest, TheNumberOfAHostCanBeGiven) {
  const testing::UnderTest<Hosts> hosts;
  const Allocation named =
      hosts.allocation(facts_with({{"TRAINYARD_HOST_NAMES", "n[0-2]"}, {"TRAINYARD_HOST_NUMBER", "2"}}, "localhost"));
  EXPECT_EQ(named.host, 2u);
  EXPECT_EQ(named.hosts, 3u);
  EXPECT_EQ(named.meeting->host, "n0");
  const Allocation counted = hosts.allocation(
      facts_with({{"TRAINYARD_HOST_NUMBER", "1"}, {"TRAINYARD_HOST_COUNT", "2"}, {"TRAINYARD_MEET_AT", "a"}}));
  EXPECT_EQ(counted.host, 1u);
  EXPECT_EQ(counted.meeting->host, "a");
}

TEST(HostsTest, ANumberBeyondTheHostsAndAMissingCountAreNamed) {
  const testing::UnderTest<Hosts> hosts;
  EXPECT_FALSE(hosts.detect(facts_with({})).found);
  EXPECT_EQ(hosts.error(facts_with({{"TRAINYARD_HOST_NAMES", "a,b"}, {"TRAINYARD_HOST_NUMBER", "2"}})),
            "engine: TRAINYARD_HOST_NUMBER is '2'; allowed: a whole number from 0 to 1");
  for (const ProcessFacts& facts : {facts_with({}), facts_with({{"TRAINYARD_HOST_NUMBER", "0"}})}) {
    EXPECT_EQ(hosts.error(facts),
              "engine: the hosts are not known; give the parameter 'names', or set TRAINYARD_HOST_NAMES, or set "
              "TRAINYARD_HOST_NUMBER and TRAINYARD_HOST_COUNT");
  }
  EXPECT_THAT(testing::UnderTest<Hosts>(R"({"names": ["a", "a"]})").error(facts_with({}, "a")),
              HasSubstr("2 of the 2 hosts in the parameter 'names'"));
}

}  // namespace
}  // namespace trainyard
