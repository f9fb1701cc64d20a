// SPDX-License-Identifier: Apache-2.0
#include "environments/lsf/lsf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/testing/facts.h"

namespace trainyard {
namespace {

using testing::changed;
using ::testing::ElementsAre;
using testing::facts_with;
using ::testing::HasSubstr;

ProcessFacts process(const std::string& host_name) {
  return facts_with({{"LSB_JOBID", "77"}, {"LSB_JOBINDEX", "0"}, {"LSB_MCPU_HOSTS", "h1 4 h2 4 "}}, host_name);
}

TEST(LsfTest, TheNumberOfAHostIsItsPlaceInTheListOfTheJob) {
  const testing::UnderTest<Lsf> lsf;
  EXPECT_EQ(lsf.allocation(process("h1")).host, 0u);
  const Allocation allocation = lsf.allocation(process("h2.lab"));
  EXPECT_EQ(allocation.host, 1u);
  EXPECT_EQ(allocation.hosts, 2u);
  EXPECT_THAT(allocation.names, ElementsAre("h1", "h2"));
  EXPECT_EQ(allocation.meeting->host, "h1");
  EXPECT_EQ(allocation.job, "77");
  EXPECT_THAT(allocation.requeue, ElementsAre("brequeue", "77"));
}

TEST(LsfTest, TheListCanAlsoComeFromSlotsOrAFile) {
  const testing::UnderTest<Lsf> lsf;
  EXPECT_THAT(lsf.allocation(changed(process("h2"), {{"LSB_MCPU_HOSTS", ""}, {"LSB_HOSTS", "h1 h1 h2 h2"}})).names,
              ElementsAre("h1", "h2"));
  ProcessFacts facts = changed(process("h2"), {{"LSB_MCPU_HOSTS", ""}, {"LSB_DJOB_HOSTFILE", "/spool/hosts"}});
  EXPECT_THAT(lsf.error(facts), HasSubstr("the file '/spool/hosts', which LSB_DJOB_HOSTFILE names, cannot be read"));
  facts.read_file = [](const std::string& path) -> std::optional<std::string> {
    if (path != "/spool/hosts") return {};
    return "h1\nh1\nh2\nh2\n";
  };
  EXPECT_EQ(lsf.allocation(facts).host, 1u);
}

TEST(LsfTest, AnElementOfAnArrayAndARestartAreRecognised) {
  const Allocation allocation =
      testing::UnderTest<Lsf>().allocation(changed(process("h1"), {{"LSB_JOBINDEX", "3"}, {"LSB_RESTART", "Y"}}));
  EXPECT_EQ(allocation.job, "77[3]");
  EXPECT_EQ(allocation.restarts, 1u);
}

TEST(LsfTest, TasksOfJsrunKnowTheirNumberOnTheHost) {
  const Allocation allocation = testing::UnderTest<Lsf>().allocation(
      changed(process("h2"), {{"JSM_NAMESPACE_LOCAL_RANK", "1"}, {"JSM_NAMESPACE_LOCAL_SIZE", "2"}}));
  EXPECT_EQ(allocation.process, 1u);
  EXPECT_EQ(allocation.processes, 2u);
}

TEST(LsfTest, AHostThatIsNotInTheListAndAListOfAnotherFormAreNamed) {
  const testing::UnderTest<Lsf> lsf;
  EXPECT_EQ(lsf.error(process("login")),
            "engine: this host is called 'login', and none of the 2 hosts in LSB_MCPU_HOSTS have this name: h1, h2");
  for (const char* list : {"h1", "h1 0", "h1 four", "h1 4 h2", " "}) {
    EXPECT_THAT(lsf.error(changed(process("h1"), {{"LSB_MCPU_HOSTS", list}})), HasSubstr("such as 'a 4 b 4'")) << list;
  }
}

}  // namespace
}  // namespace trainyard
