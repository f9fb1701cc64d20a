// SPDX-License-Identifier: Apache-2.0
#include "environments/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/error_of.h"

namespace trainyard::environments {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

// The expected names are those that `scontrol show hostnames` prints. The test tests/lab/slurm_test.py compares with a
// real Slurm.

TEST(HostListTest, NamesAndRangesAreExpandedInTheirOrder) {
  EXPECT_THAT(expand_host_list("n0", "engine"), ElementsAre("n0"));
  EXPECT_THAT(expand_host_list("n[0-3,7],m01", "engine"), ElementsAre("n0", "n1", "n2", "n3", "n7", "m01"));
  EXPECT_THAT(expand_host_list("n2,n[0-1]", "engine"), ElementsAre("n2", "n0", "n1"));
  EXPECT_THAT(expand_host_list("10.0.0.1,10.0.0.2", "engine"), ElementsAre("10.0.0.1", "10.0.0.2"));
}

TEST(HostListTest, NumbersKeepTheirLeadingZeros) {
  EXPECT_THAT(expand_host_list("n[08-10,012]", "engine"), ElementsAre("n08", "n09", "n10", "n012"));
  EXPECT_THAT(expand_host_list("n[9-11]", "engine"), ElementsAre("n9", "n10", "n11"));
}

TEST(HostListTest, TheLastBracketsCountFastest) {
  EXPECT_THAT(expand_host_list("r[0-1]n[0-1]-ib", "engine"), ElementsAre("r0n0-ib", "r0n1-ib", "r1n0-ib", "r1n1-ib"));
}

TEST(HostListTest, WhatIsNoListIsRefusedWithThePartThatIsWrong) {
  const auto error = [](std::string_view list) { return error_of([&] { expand_host_list(list, "engine"); }).second; };
  EXPECT_EQ(error("m,n[0-"), "engine: the list of hosts contains 'n[0-': a bracket that is not closed");
  EXPECT_EQ(error("n0]"), "engine: the list of hosts contains 'n0]': a bracket that closes none");
  EXPECT_EQ(error("n[[0]]"), "engine: the list of hosts contains 'n[[0]]': a bracket within brackets");
  EXPECT_EQ(error("n[5-3]"), "engine: the list of hosts contains 'n[5-3]': a range whose end is before its beginning");
  for (const char* list : {"n[]", "n[a]", "n[0-]", "n[-1]", "n[0-1-2]", "n[0,]", "n[99999999999]"}) {
    EXPECT_THAT(error(list), HasSubstr("ranges of numbers such as [0-3,7] are allowed")) << list;
  }
  for (const char* list : {"", ",", "a,,b", "a,"}) EXPECT_THAT(error(list), HasSubstr("an empty name")) << list;
  for (const char* list : {"a b", "-a", "a;b", "n[0-1]/x", "a\nb"}) {
    EXPECT_THAT(error(list), HasSubstr("cannot be the name of a host")) << list;
  }
  EXPECT_THAT(error(std::string_view("a\0b", 3)), HasSubstr("cannot be the name of a host"));
}

TEST(HostListTest, AHostileListCostsLittle) {
  const auto error = [](const std::string& list) { return error_of([&] { expand_host_list(list, "engine"); }).second; };
  EXPECT_THAT(error("n[0-999999999]"), HasSubstr("more than 65536 hosts"));
  EXPECT_THAT(error("n[0-999][0-999][0-999][0-999]"), HasSubstr("more than 65536 hosts"));
  EXPECT_THAT(error("n[0-65535],m"), HasSubstr("more than 65536 hosts"));
  EXPECT_THAT(error("n" + std::string(200000, '[')), HasSubstr("a bracket within brackets"));
  EXPECT_THAT(error(std::string(2 << 20, 'n')), HasSubstr("has 2097152 bytes; at most 1048576 are allowed"));
  EXPECT_THAT(error(std::string(2000, 'n')), HasSubstr("..."));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "n[0]";
  EXPECT_THAT(error(many), HasSubstr("too many brackets"));
  EXPECT_THAT(error("n[" + std::string(1000, '0') + "1]"), HasSubstr("ranges of numbers"));
  EXPECT_EQ(expand_host_list("n[0-65535]", "engine").size(), 65536u);
}

}  // namespace
}  // namespace trainyard::environments
