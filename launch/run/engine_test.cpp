// SPDX-License-Identifier: Apache-2.0
#include "launch/run/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/plugin/loader.h"
#include "core/testing/error_of.h"

namespace trainyard::launch {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

/// Tests with the environments of this build.
class EngineTest : public ::testing::Test {
 protected:
  Engine find(ProcessFacts::Variables variables, const PluginSpec& named = {}) {
    ProcessFacts facts;
    facts.variables = std::move(variables);
    facts.host_name = "here";
    return find_engine(loader_, named, facts);
  }

  core::PluginLoader loader_{core::PluginLoader::default_directories()};
  const ProcessFacts::Variables two_hosts_{{"RANK", "1"},       {"LOCAL_RANK", "0"},      {"WORLD_SIZE", "2"},
                                           {"GROUP_RANK", "1"}, {"MASTER_ADDR", "a"},     {"MASTER_PORT", "29500"},
                                           {"PATH", "/bin"},    {"LOCAL_WORLD_SIZE", "1"}};
};

TEST_F(EngineTest, IsDetectedUnlessTheLaunchFileNamesIt) {
  EXPECT_EQ(find({}).environment, "single_host");
  EXPECT_EQ(find(two_hosts_).environment, "torchrun");
  EXPECT_EQ(find(two_hosts_).allocation.host, 1u);
  const Engine named = find(two_hosts_, {"single_host", "{}"});
  EXPECT_EQ(named.environment, "single_host");
  EXPECT_EQ(named.allocation.hosts, 1u);
  EXPECT_EQ(find({}, {"hosts", R"({"names": ["here", "there"]})"}).allocation.hosts, 2u);
}

TEST_F(EngineTest, AnEngineThatIsNamedButNotThereSaysWhatIsMissing) {
  EXPECT_EQ(error_of([&] {
              find({}, {"open_mpi", "{}"});
            }).second,
            "environment 'open_mpi': the variable OMPI_COMM_WORLD_SIZE is not set");
  EXPECT_THAT(error_of([&] { find({}, {"slrum", "{}"}); }).second, HasSubstr("did you mean 'slurm'?"));
}

TEST_F(EngineTest, AnEngineThatIsDetectedButSaysTooLittleCanBeIgnored) {
  EXPECT_EQ(
      error_of([&] {
        find({{"OMPI_COMM_WORLD_RANK", "0"}});
      }).second,
      "environment 'open_mpi': the variable OMPI_COMM_WORLD_SIZE is not set (this environment was detected because "
      "OMPI_COMM_WORLD_RANK is 0; environment=single_host ignores it)");
}

TEST_F(EngineTest, SeveralLaunchesOnEachHostAreNumberedHostByHost) {
  const ProcessFacts::Variables two_processes{
      {"RANK", "1"},       {"WORLD_SIZE", "2"},     {"LOCAL_RANK", "1"},     {"LOCAL_WORLD_SIZE", "2"},
      {"GROUP_RANK", "0"}, {"MASTER_ADDR", "here"}, {"MASTER_PORT", "29500"}};
  const Engine second = find(two_processes);
  EXPECT_EQ(number_of_launch(second), 1u);
  EXPECT_EQ(describe_launches(second),
            "the environment 'torchrun' says that this is one of several launches of the same run, one for each rank: "
            "host 0 of 1, process 1 of 2 on this host, because RANK is 1 and LOCAL_RANK is 1; environment=single_host "
            "makes this launch a run of its own");
  EXPECT_EQ(describe_launches(find(two_hosts_)), "");
  EXPECT_EQ(describe_launches(find(two_processes, {"single_host", "{}"})), "");
  Engine last;
  last.allocation = {.host = 2, .hosts = 3, .process = 3, .processes = 4};
  EXPECT_EQ(number_of_launch(last), 11u);
}

TEST_F(EngineTest, TheVariablesOfAnyEngineAreForgottenWhicheverIsNamed) {
  const Engine engine = find(two_hosts_, {"single_host", "{}"});
  EXPECT_THAT(engine.removed, ElementsAre("GROUP_RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
                                          "RANK", "WORLD_SIZE"));
  ::setenv("GROUP_RANK", "1", 1);
  forget_variables(engine);
  EXPECT_EQ(std::getenv("GROUP_RANK"), nullptr);
  EXPECT_NE(std::getenv("PATH"), nullptr);
}

}  // namespace
}  // namespace trainyard::launch
