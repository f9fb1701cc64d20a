// SPDX-License-Identifier: Apache-2.0
#include "environments/host_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/error_of.h"
#include "environments/meeting_address.h"
#include "environments/testing/facts.h"

namespace trainyard::environments {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::facts_with;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::uint32_t number(const std::vector<std::string>& names, ProcessFacts facts) {
  return own_number(names, facts, "engine", "LIST");
}

TEST(HostNameTest, AHostFindsItsNumberByItsName) {
  EXPECT_EQ(number({"a", "b"}, facts_with({}, "b")), 1u);
  EXPECT_EQ(number({"a.lab", "B.lab"}, facts_with({}, "b")), 1u) << "the domain and capital letters do not matter";
  EXPECT_EQ(number({"a", "b"}, facts_with({}, "b.lab")), 1u);
  EXPECT_EQ(number({"b.one", "b.two"}, facts_with({}, "b.two")), 1u) << "the whole name comes first";
}

TEST(HostNameTest, AHostFindsItsNumberByAnAddressOfItsInterfaces) {
  ProcessFacts facts = facts_with({}, "here");
  facts.addresses = {"10.0.0.2", "fd00::2"};
  EXPECT_EQ(number({"10.0.0.1", "10.0.0.2"}, facts), 1u);
  EXPECT_EQ(number({"fd00::1", "fd00::2"}, facts), 1u);
  facts.host_name = "10";
  EXPECT_THAT(error_of([&] { number({"10.0.0.1", "10.0.0.3"}, facts); }).second, HasSubstr("none of the 2 hosts"));
}

TEST(HostNameTest, AHostThatIsNotInTheListOrIsSeveralTimesGetsAnErrorWithBothNames) {
  EXPECT_EQ(error_of([&] {
              number({"a", "b"}, facts_with({}, "localhost"));
            }).second,
            "engine: this host is called 'localhost', and none of the 2 hosts in LIST have this name: a, b");
  EXPECT_EQ(error_of([&] {
              number({"b.one", "b.two"}, facts_with({}, "b"));
            }).second,
            "engine: this host is called 'b', and 2 of the 2 hosts in LIST have this name: b.one, b.two");
}

TEST(HostNameTest, AMeetingAddressIsAHostWithOrWithoutAPort) {
  const auto place = [](std::string_view text) { return parse_meeting_address(text, "engine", "MEET"); };
  EXPECT_EQ(place("n0").host, "n0");
  EXPECT_THAT(place("n0").ports, IsEmpty());
  EXPECT_EQ(place("n0.lab:29500").host, "n0.lab");
  EXPECT_THAT(place("n0.lab:29500").ports, ElementsAre(29500));
  EXPECT_EQ(place("fd00::1").host, "fd00::1");
  EXPECT_EQ(place("[fd00::1]:80").host, "fd00::1");
  EXPECT_THAT(place("[fd00::1]:80").ports, ElementsAre(80));
  for (const char* text : {"", ":1", "n0:", "n0:0", "n0:65536", "n0:1x", "[fd00::1", "[fd00::1]80", "[]:1"}) {
    EXPECT_THAT(error_of([&] { place(text); }).second,
                HasSubstr("allowed: HOST or HOST:PORT, such as node1 or [fd00::1]:29500"))
        << text;
  }
  EXPECT_THAT(error_of([&] { place("a b"); }).second, HasSubstr("cannot be the name of a host"));
}

}  // namespace
}  // namespace trainyard::environments
