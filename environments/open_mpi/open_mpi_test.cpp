// SPDX-License-Identifier: Apache-2.0
#include "environments/open_mpi/open_mpi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/open_mpi/host_of_rank.h"
#include "environments/testing/facts.h"

namespace trainyard {
namespace {

using testing::changed;
using testing::facts_with;
using ::testing::HasSubstr;

/// Returns a process with the variables that Open MPI 4.1 sets. `daemon` is the number of mpirun's daemon on the host.
ProcessFacts process(int rank, int ranks, int local_rank, int local_ranks, int hosts, int daemon) {
  return facts_with({{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                     {"OMPI_COMM_WORLD_SIZE", std::to_string(ranks)},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(local_rank)},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(local_ranks)},
                     {"OMPI_MCA_orte_num_nodes", std::to_string(hosts)},
                     {"OMPI_MCA_orte_hnp_uri", "652083200.0;tcp://10.0.0.1,10.1.0.1:33399;tcp6://[fd00::2]:33185"},
                     {"OMPI_MCA_orte_local_daemon_uri", "652083200." + std::to_string(daemon) + ";tcp://10.0.0.9:1"}});
}

std::uint32_t host(const ProcessFacts& facts) { return testing::UnderTest<OpenMpi>().allocation(facts).host; }

TEST(OpenMpiTest, OneProcessOnEachHostIsThatHost) {
  const Allocation first = testing::UnderTest<OpenMpi>().allocation(process(0, 2, 0, 1, 2, 0));
  EXPECT_EQ(first.host, 0u);
  EXPECT_EQ(first.hosts, 2u);
  EXPECT_EQ(first.processes, 1u);
  EXPECT_EQ(first.job, "652083200");
  EXPECT_EQ(first.meeting->host, "10.0.0.1");
  const Allocation second = testing::UnderTest<OpenMpi>().allocation(process(1, 2, 0, 1, 2, 1));
  EXPECT_EQ(second.host, 1u);
  EXPECT_EQ(second.meeting->host, "10.0.0.1");
  EXPECT_EQ(second.meeting->ports, first.meeting->ports);
}

// The numbers were observed in runs of mpirun on real hosts.
TEST(OpenMpiTest, SeveralProcessesOnEachHostFindTheirHostBySlotAndByNode) {
  EXPECT_EQ(host(process(1, 4, 1, 2, 2, 0)), 0u);
  EXPECT_EQ(host(process(2, 4, 0, 2, 2, 1)), 1u);
  EXPECT_EQ(host(process(3, 4, 1, 2, 2, 1)), 1u);
  EXPECT_EQ(host(process(2, 4, 1, 2, 2, 0)), 0u) << "by node";
  EXPECT_EQ(host(process(1, 4, 0, 2, 2, 1)), 1u) << "by node";
  EXPECT_EQ(host(process(3, 4, 1, 2, 2, 1)), 1u) << "by node";
}

TEST(OpenMpiTest, IfMpirunIsOnALoginNodeTheHostsAreNumberedWithoutItAndMustBeToldWhereToMeet) {
  const testing::UnderTest<OpenMpi> open_mpi;
  EXPECT_EQ(host(process(0, 2, 0, 1, 2, 1)), 0u);
  EXPECT_EQ(host(process(1, 2, 0, 1, 2, 2)), 1u);
  EXPECT_FALSE(open_mpi.allocation(process(0, 2, 0, 1, 2, 1)).meeting) << "the address of mpirun is not that of host 0";
  const ProcessFacts told = changed(process(1, 2, 0, 1, 2, 2), {{"TRAINYARD_MEET_AT", "a"}});
  EXPECT_EQ(open_mpi.allocation(told).meeting->host, "a");
}

/// Assigns ranks to hosts by slot, as mpirun does. Checks that host_of() returns the right host for every process, or
/// that it returns nothing for at least one process.
TEST(OpenMpiTest, EveryProcessFindsItsHostOrOneOfThemSaysThatItCannot) {
  for (const std::vector<std::uint32_t>& counts :
       {std::vector<std::uint32_t>{1, 1, 1}, {2, 2}, {4, 4, 4, 4}, {1, 2}, {2, 1}, {3, 2, 1}, {1, 3, 2}, {2, 1, 3}}) {
    for (const std::uint32_t first_daemon : {0u, 1u}) {
      std::uint32_t ranks = 0, rank = 0, wrong = 0, unknown = 0;
      for (const std::uint32_t count : counts) ranks += count;
      for (std::uint32_t host = 0; host < counts.size(); ++host) {
        for (std::uint32_t local = 0; local < counts[host]; ++local, ++rank) {
          const auto found = open_mpi::host_of(
              {rank, ranks, local, counts[host], static_cast<std::uint32_t>(counts.size()), host + first_daemon});
          wrong += found && *found != host;
          unknown += !found;
        }
      }
      const bool even = std::ranges::count(counts, counts.front()) == static_cast<std::ptrdiff_t>(counts.size());
      EXPECT_EQ(wrong, unknown == 0 ? 0u : wrong);
      EXPECT_EQ(unknown == 0, even) << ::testing::PrintToString(counts) << " from daemon " << first_daemon;
    }
  }
}

TEST(OpenMpiTest, UnevenProcessesGetOneErrorThatSaysWhatToDo) {
  EXPECT_EQ(testing::UnderTest<OpenMpi>().error(process(2, 3, 0, 1, 2, 1)),
            "engine: rank 2 of 3 is process 0 of 1 on its host, with daemon 1 of mpirun, which does not determine the "
            "number of the host; start one process on each host: mpirun --map-by ppr:1:node");
}

TEST(OpenMpiTest, OnOneHostDaemonsDoNotMatter) {
  const Allocation allocation = testing::UnderTest<OpenMpi>().allocation(process(1, 2, 1, 2, 5, 3));
  EXPECT_EQ(allocation.hosts, 1u);
  EXPECT_EQ(allocation.process, 1u);
  EXPECT_EQ(allocation.processes, 2u);
}

TEST(OpenMpiTest, TheVariablesOfJsrunAreNotThoseOfMpirun) {
  const testing::UnderTest<OpenMpi> open_mpi;
  EXPECT_TRUE(open_mpi.detect(process(0, 1, 0, 1, 1, 0)).found);
  EXPECT_FALSE(open_mpi.detect(changed(process(0, 1, 0, 1, 1, 0), {{"JSM_NAMESPACE_RANK", "0"}})).found);
  EXPECT_FALSE(open_mpi.detect(facts_with({})).found);
}

TEST(OpenMpiTest, WrongValuesAreNamed) {
  const testing::UnderTest<OpenMpi> open_mpi;
  EXPECT_THAT(open_mpi.error(changed(process(0, 2, 0, 1, 2, 0), {{"OMPI_MCA_orte_hnp_uri", "x"}})),
              HasSubstr("OMPI_MCA_orte_hnp_uri is 'x'; allowed: JOB.NUMBER;tcp://ADDRESS:PORT"));
  EXPECT_EQ(open_mpi.error(process(2, 2, 0, 1, 2, 0)),
            "engine: OMPI_COMM_WORLD_RANK is '2'; allowed: a whole number from 0 to 1");
}

}  // namespace
}  // namespace trainyard
