// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HostsTest : public testing::PlanFixture {
 protected:
  HostsTest() { catalogue_.add("collective", "tcp"); }

  /// Plans the six components for the hosts that an engine has allotted.
  Plan plan_on(const AllottedHosts& allotted, const std::string& text, const std::vector<std::string>& arguments = {}) {
    folder_.write("six.toml", testing::kSixComponents);
    return make_plan(folder_.write("a.toml", "include = ['six.toml']\n" + text), arguments, catalogue_, machine_,
                     [&](const PluginSpec&) { return allotted; });
  }
};

TEST_F(HostsTest, RanksAreDealtOutToTheHostsInOrder) {
  const Plan plan = plan_six("", {"nodes=2", "devices=2"});
  EXPECT_EQ(plan.hosts, 2u);
  EXPECT_EQ(plan.world_size, 4u);
  EXPECT_EQ(process(plan, "main").host, 0u);
  EXPECT_EQ(process(plan, "rank0").host, 0u);
  EXPECT_EQ(process(plan, "rank1").host, 0u);
  EXPECT_EQ(process(plan, "rank2").host, 1u);
  EXPECT_EQ(process(plan, "rank3").host, 1u);
  EXPECT_EQ(describe_ranks(plan, 1), "ranks 2 to 3");
}

TEST_F(HostsTest, EdgesBetweenHostsUseTcpAndOthersDoNot) {
  const Plan plan = plan_six("", {"nodes=2", "devices=1"});
  for (const EdgePlan& edge : plan.edges) {
    const bool near =
        process(plan, plan.components[edge.from].process).host == process(plan, plan.components[edge.to].process).host;
    EXPECT_EQ(edge.transport == Transport::kTcp, !near) << edge.topic << " to " << plan.components[edge.to].name;
  }
  EXPECT_TRUE(process(plan, "rank1").tcp);
}

TEST_F(HostsTest, ArenasOfOtherHostsAreNotAnnouncedToTheCheckpointWriter) {
  const Plan plan = plan_six("", {"nodes=2", "devices=1"});
  EXPECT_THAT(edges_into(plan, "checkpoint_writer", "arena"), ElementsAre(HasSubstr("rank0/accelerator_host")));
  const Plan one_host = plan_six("", {"devices=2"});
  EXPECT_EQ(edges_into(one_host, "checkpoint_writer", "arena").size(), 2u);
}

TEST_F(HostsTest, AComponentThatExistsOnceRunsWhereItsHostSays) {
  const Plan plan = plan_six("component.logger.host = 1", {"nodes=2"});
  EXPECT_EQ(process(plan, "logger").host, 1u);
  const Plan named = plan_on({"slurm", 2, {"a", "b"}}, "component.logger.host = 'b'");
  EXPECT_EQ(process(named, "logger").host, 1u);
  EXPECT_EQ(describe_host(named, 1), "host 1 (b)");
}

TEST_F(HostsTest, AHostThatDoesNotExistIsRefused) {
  EXPECT_EQ(error_six("component.logger.host = 2", {"nodes=2"}),
            "a.toml:2: component.logger.host: \"2\" is not allowed: the hosts have the numbers 0 to 1");
  EXPECT_EQ(error_six("component.logger.host = 'b'", {"nodes=2"}),
            "a.toml:2: component.logger.host: \"b\" is not allowed: nobody has told the names of the 2 hosts; a number "
            "from 0 to 1");
  EXPECT_EQ(error_six("component.logger.host = 'b'"),
            "a.toml:2: component.logger.host: \"b\" is not allowed: this run has one host, as topology.nodes says; "
            "\"local\", \"127.0.0.1\" or \"localhost\"");
  EXPECT_THAT(error_six("component.optimizer.host = 1", {"nodes=2"}),
              HasSubstr("component.optimizer.host: is not allowed, because the component exists for each rank"));
}

TEST_F(HostsTest, TheEngineDecidesHowManyHostsThereAre) {
  const Plan plan = plan_on({"slurm", 3, {}}, "");
  EXPECT_EQ(plan.hosts, 3u);
  EXPECT_EQ(plan.world_size, 3u);
  EXPECT_EQ(plan_on({"slurm", 3, {}}, "topology.nodes = 3").hosts, 3u);
  EXPECT_EQ(testing::error_of(
                [&] {
                  plan_on({"slurm", 3, {}}, "topology.nodes = 2");
                },
                folder_.path()),
            "a.toml:2: topology.nodes: 2 hosts are not allowed: the environment 'slurm' says that this launch is on 3 "
            "hosts");
  EXPECT_THAT(testing::error_of(
                  [&] {
                    plan_on({"single_host", 1, {}}, "topology.nodes = 2");
                  },
                  folder_.path()),
              HasSubstr("an engine must start the same command once on every host"));
}

TEST_F(HostsTest, ANumberOfHostsThatMakesNoSenseIsRefused) {
  for (const char* given : {"0", "-1", "1025", "'two'", "1.5"}) {
    EXPECT_THAT(error_six(std::string("topology.nodes = ") + given),
                HasSubstr("topology.nodes: " + std::string(given[0] == '\'' ? "\"two\"" : given) +
                          " is not allowed; a number of hosts from 1 to 1024"));
  }
  EXPECT_THAT(error_six("", {"nodes=1024", "devices=64"}), HasSubstr("a run has at most 4096 ranks"));
}

TEST_F(HostsTest, HostsCanHaveDifferentNumbersOfRanks) {
  for (const std::string given : {"ranks_per_host=[1, 3]", "topology.ranks_per_host='[1, 3]'"}) {
    const Plan plan = plan_six("", {"nodes=2", given});
    EXPECT_EQ(plan.world_size, 4u);
    EXPECT_EQ(describe_ranks(plan, 0), "rank 0");
    EXPECT_EQ(describe_ranks(plan, 1), "ranks 1 to 3");
    EXPECT_EQ(process(plan, "rank0").host, 0u);
    for (const std::string rank : {"rank1", "rank2", "rank3"}) {
      EXPECT_EQ(process(plan, rank).host, 1u);
      const ComponentPlan& host = component(plan, rank + "/accelerator_host");
      EXPECT_EQ(host.host, 1u);
      EXPECT_EQ(host.first_rank_of_host, 1u);
      EXPECT_EQ(host.ranks_of_host, 3u);
      EXPECT_THAT(host.parameters, HasSubstr(R"("devices":"3")"));
    }
    EXPECT_THAT(component(plan, "rank0/accelerator_host").parameters, HasSubstr(R"("devices":"1")"));
  }
}

TEST_F(HostsTest, ANumberOfRanksForEveryHostIsRequired) {
  const std::string allowed = "a list with the number of ranks of each host, at least 1, for 2 hosts";
  for (const std::string given : {"[1]", "[1, 2, 3]", "[1, 0]", "[1, 'two']", "2", "[]"}) {
    EXPECT_THAT(error_six("topology.ranks_per_host = " + given, {"nodes=2"}),
                HasSubstr("a.toml:2: topology.ranks_per_host: "));
    EXPECT_THAT(error_six("topology.ranks_per_host = " + given, {"nodes=2"}), HasSubstr(allowed));
  }
  EXPECT_THAT(error_six("", {"nodes=2", "devices=2", "ranks_per_host=[1, 3]"}),
              HasSubstr("is not allowed beside topology.devices, which is the number of ranks of every host"));
  EXPECT_THAT(error_six("", {"nodes=2", "ranks_per_host=[4000, 97]"}),
              HasSubstr("4097 ranks on 2 hosts are too many; a run has at most 4096 ranks"));
}

TEST_F(HostsTest, SeveralLaunchesOnEachHostAreHostsWithOneRank) {
  const AllottedHosts allotted{"open_mpi", 2, {"a", "b"}, 2};
  for (const std::string given : {"", "devices = 2", "nodes = 2", "devices = 'auto'", "devices = [0, 1]"}) {
    const Plan plan = plan_on(allotted, "[topology]\n" + given);
    EXPECT_EQ(plan.hosts, 4u) << given;
    EXPECT_EQ(plan.world_size, 4u) << given;
    EXPECT_THAT(plan.host_names, ElementsAre("a", "a", "b", "b"));
    EXPECT_EQ(process(plan, "rank3").host, 3u);
    // Several launches on one machine share its cores and devices.
    const ComponentPlan& last = component(plan, "rank3/accelerator_host");
    EXPECT_EQ(last.host, 1u);
    EXPECT_EQ(last.first_rank_of_host, 2u);
    EXPECT_EQ(last.ranks_of_host, 2u);
  }
  const auto error = [&](const std::string& text) {
    return testing::error_of([&] { plan_on(allotted, "[topology]\n" + text); }, folder_.path());
  };
  EXPECT_EQ(error("devices = 4"),
            "a.toml:3: topology.devices: 4 is not allowed; the environment 'open_mpi' has started 2 launches on each "
            "host, one for each rank, so it must be 2, or 1 if each launch sees only its own device");
  EXPECT_EQ(error("ranks_per_host = [2, 2]"),
            "a.toml:3: topology.ranks_per_host: is not allowed, because the environment 'open_mpi' has started 2 "
            "launches on each host, one for each rank");
  EXPECT_THAT(error("nodes = 4"), HasSubstr("4 hosts are not allowed"));
}

TEST_F(HostsTest, RanksOfSeveralHostsCannotShareAProcess) {
  EXPECT_THAT(error_six("topology.placement = 'composed'", {"nodes=2"}),
              HasSubstr("components of the process 'main' would be on the hosts 0 and 1"));
}

TEST_F(HostsTest, AStrategyWhoseRanksShareSomethingStaysOnOneHost) {
  const auto strategy = [](const std::string& name) {
    return "component.accelerator_host.params.strategy = '" + name + "'\n";
  };
  EXPECT_THAT(error_six(strategy("dp") + "topology.nodes = 2"),
              HasSubstr("topology.nodes: 2 hosts are not allowed with the strategy dp, whose ranks share a process"));
  EXPECT_THAT(error_six(strategy("parameter_server"), {"nodes=2"}),
              HasSubstr("2 hosts are not allowed with the strategy parameter_server, whose ranks share memory"));
}

TEST_F(HostsTest, AProcessBindsTheAddressOfItsHost) {
  const Plan plan = plan_six("", {"nodes=2"});
  const auto rank1 = std::ranges::find(plan.processes, "rank1", &PlannedProcess::name);
  const auto index = static_cast<std::size_t>(rank1 - plan.processes.begin());
  const ProcessPlan part = process_plan(plan, index, {"/run/there", {}, "10.0.0.2"});
  ASSERT_FALSE(part.bind.empty());
  for (const auto& [thread, address] : part.bind) EXPECT_EQ(address, "tcp://10.0.0.2:*");
}

}  // namespace
}  // namespace trainyard::launch
