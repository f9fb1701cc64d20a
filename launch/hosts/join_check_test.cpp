// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/join_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class JoinCheckTest : public ::testing::Test {
 protected:
  JoinCheckTest() {
    plan_.file = "a.toml";
    plan_.sources = {{"a.toml", "[run]"}};
    plan_.arguments = {"devices=2"};
    plan_.hosts = 3;
    own_ = describe_launch(plan_, {{"model", "mlp", "1", "", "tag"}});
    other_ = own_;
    other_.host = 1;
  }

  std::string objection() const { return objection_to(own_, other_); }

  Plan plan_;
  Join own_, other_;
};

TEST_F(JoinCheckTest, AnEqualLaunchIsAccepted) { EXPECT_EQ(objection(), ""); }

TEST_F(JoinCheckTest, EveryDifferenceIsNamed) {
  other_.plugins.clear();
  EXPECT_EQ(objection(), "does not have the same plugins: it has no model 'mlp' 1 (tag)");
  plan_.sources.front().text = "[topology]";
  other_.content = describe_launch(plan_, {}).content;
  other_.file = "b.toml";
  EXPECT_EQ(objection(), "has another launch file: the content of b.toml there differs from that of a.toml on host 0");
  other_.arguments = {"devices=1", "seed=2"};
  EXPECT_EQ(objection(), "was started with other arguments: devices=1 seed=2; those of host 0: devices=2");
  other_.arguments.clear();
  EXPECT_EQ(objection(), "was started with other arguments: none; those of host 0: devices=2");
  other_.host = 0;
  EXPECT_EQ(objection(), "has the number 0, which is that of the host that it has reached");
  other_.host = 3;
  EXPECT_EQ(objection(), "is not one of the 3 hosts of the run, which have the numbers 0 to 2");
  other_.hosts = 4;
  EXPECT_EQ(objection(), "counts 4 hosts, and host 0 counts 3");
  other_.version = "trainyard-0.0";
  EXPECT_THAT(objection(), StartsWith("has another build of Trainyard: 'trainyard-0.0', and host 0 has 'trainyard-"));
  other_.protocol = 9;
  EXPECT_THAT(objection(), StartsWith("speaks version 9 of the protocol between hosts, and host 0 speaks version 3"));
}

TEST_F(JoinCheckTest, AnotherProcessorAndAClockThatIsOffAreWorthARemark) {
  constexpr std::int64_t kSecond = 1'000'000'000, kNow = 1'800'000'000 * kSecond;
  other_.clock_ns = kNow - 9 * kSecond;
  EXPECT_THAT(remarks_on(own_, other_, kNow), ::testing::IsEmpty());
  other_.clock_ns = kNow + 3600 * kSecond;
  other_.processor = "another one";
  EXPECT_THAT(
      remarks_on(own_, other_, kNow),
      ::testing::ElementsAre(::testing::AllOf(HasSubstr("another processor"), HasSubstr("another one; that of")),
                             StartsWith("has a clock that is 3600 s ahead of that of host 0")));
}

TEST_F(JoinCheckTest, WhatThePlannerHasChosenMustBeTheSame) {
  plan_.choices = {{"accelerator", "auto", "cpu", ""}, {"devices", "-1", "4", ""}};
  own_ = other_ = describe_launch(plan_, {});
  other_.host = 1;
  EXPECT_EQ(objection(), "");
  other_.choices = {"accelerator = cpu", "devices = 2"};
  EXPECT_THAT(objection(), StartsWith("has other devices: the planner has chosen devices = 2 there, and devices = 4 on "
                                      "host 0; name the value"));
  other_.choices.pop_back();
  EXPECT_THAT(objection(), HasSubstr("has chosen nothing there, and devices = 4 on host 0"));
}

TEST_F(JoinCheckTest, FurtherPluginsOfAnotherHostDoNoHarm) {
  other_.plugins.push_back("model 'secret' 1 (tag)");
  EXPECT_EQ(objection(), "");
}

TEST_F(JoinCheckTest, WhatAnotherHostSendsCannotControlTheTerminal) {
  other_.arguments = {"\033[2J"};
  EXPECT_THAT(objection(), HasSubstr("?[2J"));
  other_.host_name = "a\033b\n";
  other_.address = "10.0.0.2";
  EXPECT_EQ(describe_joined(other_), "host 1 (a?b?, 10.0.0.2)");
}

}  // namespace
}  // namespace trainyard::launch
