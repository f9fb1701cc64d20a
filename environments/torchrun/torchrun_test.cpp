// SPDX-License-Identifier: Apache-2.0
#include "environments/torchrun/torchrun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/testing/facts.h"

namespace trainyard {
namespace {

using testing::changed;
using ::testing::ElementsAre;
using testing::facts_with;
using ::testing::HasSubstr;

/// Returns a process with the variables that torchrun sets for the second of two processes on the second of three
/// hosts.
ProcessFacts worker() {
  return facts_with({{"RANK", "3"},
                     {"LOCAL_RANK", "1"},
                     {"WORLD_SIZE", "6"},
                     {"LOCAL_WORLD_SIZE", "2"},
                     {"GROUP_RANK", "1"},
                     {"GROUP_WORLD_SIZE", "3"},
                     {"ROLE_NAME", "default"},
                     {"ROLE_RANK", "3"},
                     {"ROLE_WORLD_SIZE", "6"},
                     {"MASTER_ADDR", "a.lab"},
                     {"MASTER_PORT", "29500"},
                     {"TORCHELASTIC_RESTART_COUNT", "1"},
                     {"TORCHELASTIC_MAX_RESTARTS", "3"},
                     {"TORCHELASTIC_RUN_ID", "run7"},
                     {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                     {"OMP_NUM_THREADS", "1"}});
}

/// Returns a process with the variables that Kubeflow Trainer sets in the second of two pods, if the command of the pod
/// is not torchrun.
ProcessFacts pod() {
  return facts_with({{"PET_NNODES", "2"},
                     {"PET_NPROC_PER_NODE", "4"},
                     {"PET_NODE_RANK", "1"},
                     {"PET_MASTER_ADDR", "job-node-0-0.job"},
                     {"PET_MASTER_PORT", "29500"}});
}

TEST(TorchrunTest, AWorkerOfTorchrunKnowsItsHostAndItsProcess) {
  const Allocation allocation = testing::UnderTest<Torchrun>().allocation(worker());
  EXPECT_EQ(allocation.host, 1u);
  EXPECT_EQ(allocation.hosts, 3u);
  EXPECT_EQ(allocation.process, 1u);
  EXPECT_EQ(allocation.processes, 2u);
  EXPECT_EQ(allocation.job, "run7");
  EXPECT_EQ(allocation.restarts, 1u);
  EXPECT_TRUE(allocation.restarts_failures);
}

TEST(TorchrunTest, ThePortOfTorchrunsOwnServerIsNotUsed) {
  const testing::UnderTest<Torchrun> torchrun;
  EXPECT_EQ(torchrun.allocation(worker()).meeting->host, "a.lab");
  EXPECT_EQ(torchrun.allocation(worker()).meeting->ports.front(), 29501);
  EXPECT_THAT(torchrun.allocation(changed(worker(), {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).meeting->ports,
              ElementsAre(29500));
}

TEST(TorchrunTest, AfterTheLastRestartAFailureIsFinal) {
  EXPECT_FALSE(testing::UnderTest<Torchrun>()
                   .allocation(changed(worker(), {{"TORCHELASTIC_RESTART_COUNT", "3"}}))
                   .restarts_failures);
}

TEST(TorchrunTest, RayTrainGivesTheNumberOfTheHostUnderAnotherName) {
  const testing::UnderTest<Torchrun> torchrun;
  const ProcessFacts ray = changed(worker(), {{"GROUP_RANK", ""}, {"GROUP_WORLD_SIZE", ""}, {"NODE_RANK", "2"}});
  EXPECT_EQ(torchrun.allocation(ray).host, 2u);
  EXPECT_EQ(torchrun.allocation(ray).hosts, 3u);
  EXPECT_EQ(torchrun.error(changed(ray, {{"WORLD_SIZE", "5"}})),
            "engine: GROUP_WORLD_SIZE is not set, and WORLD_SIZE, 5, is not a multiple of LOCAL_WORLD_SIZE, 2, so the "
            "number of hosts is not known");
}

TEST(TorchrunTest, APodOfKubeflowIsAHostEvenIfTorchrunWasNotCalled) {
  const testing::UnderTest<Torchrun> torchrun;
  const Allocation allocation = torchrun.allocation(pod());
  EXPECT_TRUE(torchrun.detect(pod()).found);
  EXPECT_EQ(allocation.host, 1u);
  EXPECT_EQ(allocation.hosts, 2u);
  EXPECT_EQ(allocation.processes, 1u);
  EXPECT_EQ(allocation.devices, 4u);
  EXPECT_EQ(allocation.meeting->host, "job-node-0-0.job");
  EXPECT_THAT(allocation.meeting->ports, ElementsAre(29500));
  EXPECT_FALSE(torchrun.allocation(changed(pod(), {{"PET_NPROC_PER_NODE", "auto"}})).devices);
}

TEST(TorchrunTest, WorkersThatTorchrunStartedInAPodAreWorkers) {
  ProcessFacts facts = worker();
  facts.variables.merge(pod().variables);
  const Allocation allocation = testing::UnderTest<Torchrun>().allocation(facts);
  EXPECT_EQ(allocation.hosts, 3u);
  EXPECT_EQ(allocation.processes, 2u);
}

TEST(TorchrunTest, AnElasticNumberOfHostsIsRefused) {
  EXPECT_EQ(testing::UnderTest<Torchrun>().error(changed(pod(), {{"PET_NNODES", "1:4"}})),
            "engine: PET_NNODES is '1:4', an elastic number of hosts; allowed: a fixed number of hosts");
}

TEST(TorchrunTest, InAnOldPyTorchJobARankIsAHost) {
  const ProcessFacts facts =
      facts_with({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-master-0"}, {"MASTER_PORT", "23456"}});
  const testing::UnderTest<Torchrun> torchrun;
  EXPECT_THAT(torchrun.detect(facts).reason, HasSubstr("LOCAL_RANK is not, so a rank is a host"));
  const Allocation allocation = torchrun.allocation(facts);
  EXPECT_EQ(allocation.host, 1u);
  EXPECT_EQ(allocation.hosts, 2u);
  EXPECT_EQ(allocation.processes, 1u);
  EXPECT_EQ(allocation.meeting->host, "job-master-0");
  EXPECT_THAT(allocation.meeting->ports, ElementsAre(23456));
}

TEST(TorchrunTest, WrongValuesAreNamed) {
  const testing::UnderTest<Torchrun> torchrun;
  EXPECT_EQ(torchrun.error(changed(worker(), {{"RANK", "6"}})),
            "engine: RANK is '6'; allowed: a whole number from 0 to 5");
  EXPECT_EQ(torchrun.error(changed(worker(), {{"MASTER_PORT", ""}})), "engine: the variable MASTER_PORT is not set");
  EXPECT_EQ(torchrun.error(changed(worker(), {{"MASTER_PORT", "0"}})),
            "engine: MASTER_PORT is '0'; allowed: a whole number from 1 to 65535");
  EXPECT_EQ(torchrun.error(facts_with({})), "engine: the variable WORLD_SIZE is not set");
  EXPECT_FALSE(torchrun.detect(facts_with({{"MASTER_ADDR", "a"}})).found);
}

}  // namespace
}  // namespace trainyard
