// SPDX-License-Identifier: Apache-2.0
#include "environments/slurm/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "environments/testing/facts.h"

namespace trainyard {
namespace {

using testing::changed;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::facts_with;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns a process with the variables that Slurm 22.05 sets for task 2 of `srun -N2 -n3 --resv-ports=4`. This is the
/// only task on the second host.
ProcessFacts step() {
  return facts_with({{"SLURMD_NODENAME", "n1"},
                     {"SLURM_JOB_ID", "12"},
                     {"SLURM_JOB_NODELIST", "n[0-1]"},
                     {"SLURM_JOB_NUM_NODES", "2"},
                     {"SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"},
                     {"SLURM_LOCALID", "0"},
                     {"SLURM_NNODES", "2"},
                     {"SLURM_NODEID", "1"},
                     {"SLURM_NTASKS", "3"},
                     {"SLURM_PROCID", "2"},
                     {"SLURM_SRUN_COMM_HOST", "127.0.0.1"},
                     {"SLURM_STEP_ID", "0"},
                     {"SLURM_STEP_NODELIST", "n[0-1]"},
                     {"SLURM_STEP_NUM_NODES", "2"},
                     {"SLURM_STEP_NUM_TASKS", "3"},
                     {"SLURM_STEP_RESV_PORTS", "17001-17004"},
                     {"SLURM_STEP_TASKS_PER_NODE", "2,1"}},
                    "n1");
}

/// Returns a process with the variables that Slurm sets in the batch script of a job on two hosts.
ProcessFacts batch_script() {
  return changed(step(), {{"SLURM_STEP_ID", ""},
                          {"SLURM_STEP_NODELIST", ""},
                          {"SLURM_STEP_NUM_NODES", ""},
                          {"SLURM_STEP_NUM_TASKS", ""},
                          {"SLURM_STEP_RESV_PORTS", ""},
                          {"SLURM_STEP_TASKS_PER_NODE", ""},
                          {"SLURM_LAUNCH_NODE_IPADDR", ""},
                          {"SLURM_SRUN_COMM_HOST", ""},
                          {"SLURM_NODEID", "0"},
                          {"SLURM_PROCID", "0"}});
}

TEST(SlurmTest, ATaskOfSrunKnowsItsHostAndWhereTheHostsMeet) {
  const testing::UnderTest<Slurm> slurm;
  EXPECT_TRUE(slurm.detect(step()).found);
  EXPECT_EQ(slurm.detect(step()).reason, "SLURM_JOB_ID is 12");
  const Allocation allocation = slurm.allocation(step());
  EXPECT_EQ(allocation.host, 1u);
  EXPECT_EQ(allocation.hosts, 2u);
  EXPECT_THAT(allocation.names, ElementsAre("n0", "n1"));
  EXPECT_EQ(allocation.process, 0u);
  EXPECT_EQ(allocation.processes, 1u) << "the first host has two, this one has one";
  EXPECT_EQ(allocation.job, "12.0");
  EXPECT_EQ(allocation.meeting->host, "n0") << "not the host of srun, which may be a login node";
  EXPECT_THAT(allocation.meeting->ports, ElementsAre(17001, 17002, 17003, 17004));
  EXPECT_THAT(allocation.requeue, ElementsAre("scontrol", "requeue", "12"));
  EXPECT_THAT(allocation.stop.signals, Contains(SIGTERM));
  EXPECT_TRUE(allocation.stop.to_all_processes);
  EXPECT_EQ(allocation.restarts, 0u);
  EXPECT_FALSE(allocation.devices);
}

TEST(SlurmTest, SeveralTasksOnAHostAreUnderstood) {
  const Allocation allocation = testing::UnderTest<Slurm>().allocation(
      changed(step(), {{"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}, {"SLURM_LOCALID", "1"}, {"SLURM_GPUS_ON_NODE", "2"}}));
  EXPECT_EQ(allocation.process, 1u);
  EXPECT_EQ(allocation.processes, 2u);
  EXPECT_EQ(allocation.devices, 2u);
}

TEST(SlurmTest, OnlyTheVariablesOfTheStepCount) {
  // SLURM_NTASKS is missing if only --ntasks-per-node is given, and the job can have more hosts than the step.
  const Allocation allocation = testing::UnderTest<Slurm>().allocation(
      changed(step(), {{"SLURM_NTASKS", ""}, {"SLURM_NNODES", "4"}, {"SLURM_JOB_NODELIST", "n[0-3]"}}));
  EXPECT_EQ(allocation.hosts, 2u);
  EXPECT_EQ(allocation.processes, 1u);
}

TEST(SlurmTest, WithoutReservedPortsTheJobDeterminesThem) {
  const testing::UnderTest<Slurm> slurm;
  const auto ports = [&](const char* job, const char* host) {
    return slurm
        .allocation(changed(step(), {{"SLURM_STEP_RESV_PORTS", ""}, {"SLURM_JOB_ID", job}, {"SLURM_NODEID", host}}))
        .meeting->ports;
  };
  EXPECT_EQ(ports("12", "0"), ports("12", "1")) << "every host computes the same";
  EXPECT_EQ(ports("12", "0").size(), 16u);
  EXPECT_NE(ports("12", "0"), ports("13", "0"));
}

TEST(SlurmTest, ABatchScriptOnOneHostIsThatHost) {
  const Allocation allocation = testing::UnderTest<Slurm>().allocation(
      changed(batch_script(), {{"SLURM_JOB_NUM_NODES", "1"}, {"SLURM_RESTART_COUNT", "3"}}));
  EXPECT_EQ(allocation.hosts, 1u);
  EXPECT_THAT(allocation.names, ElementsAre("n1"));
  EXPECT_EQ(allocation.job, "12");
  EXPECT_EQ(allocation.restarts, 3u);
}

TEST(SlurmTest, ABatchScriptOnSeveralHostsAndAShellOfSallocAreToldToUseSrun) {
  const testing::UnderTest<Slurm> slurm;
  EXPECT_EQ(
      slurm.error(batch_script()),
      "engine: this process is in the batch script of job 12, so Slurm has started it only once; start it on every "
      "host with `srun trainyard launch ...`");
  EXPECT_THAT(slurm.error(changed(batch_script(), {{"SLURMD_NODENAME", ""}})),
              HasSubstr("this process is in the shell of salloc of job 12"));
}

TEST(SlurmTest, AHeterogeneousJobIsOneJobOverAllItsGroups) {
  // Task 2 of `srun -N1 -n1 : -N2 -n2`: SLURM_NODEID counts over all groups, and the lists contain all of them.
  const Allocation allocation =
      testing::UnderTest<Slurm>().allocation(changed(step(), {{"SLURM_HET_SIZE", "2"},
                                                              {"SLURM_NODEID", "2"},
                                                              {"SLURM_STEP_NODELIST", "n[0-2]"},
                                                              {"SLURM_STEP_NUM_NODES", "3"},
                                                              {"SLURM_STEP_TASKS_PER_NODE", "1(x3)"}}));
  EXPECT_EQ(allocation.host, 2u);
  EXPECT_EQ(allocation.hosts, 3u);
  EXPECT_THAT(allocation.names, ElementsAre("n0", "n1", "n2"));
}

TEST(SlurmTest, TheEndOfTheTimeLimitIsKnownIfSlurmTellsIt) {
  const testing::UnderTest<Slurm> slurm;
  EXPECT_FALSE(slurm.allocation(step()).stop.end);
  EXPECT_EQ(slurm.allocation(changed(step(), {{"SLURM_JOB_END_TIME", "1700000000"}})).stop.end,
            std::chrono::system_clock::from_time_t(1700000000));
}

TEST(SlurmTest, WrongValuesAreNamed) {
  const testing::UnderTest<Slurm> slurm;
  const auto error = [&](const char* name, const char* value) { return slurm.error(changed(step(), {{name, value}})); };
  EXPECT_EQ(error("SLURM_NODEID", "2"), "engine: SLURM_NODEID is '2'; allowed: a whole number from 0 to 1");
  EXPECT_EQ(error("SLURM_NODEID", ""), "engine: the variable SLURM_NODEID is not set");
  EXPECT_EQ(error("SLURM_LOCALID", "1"), "engine: SLURM_LOCALID is '1'; allowed: a whole number from 0 to 0");
  EXPECT_EQ(error("SLURM_STEP_NODELIST", "n[0-2]"), "engine: there are 2 hosts, but 3 names of hosts");
  EXPECT_EQ(error("SLURM_STEP_NODELIST", "n0,n0"), "engine: the host 'n0' occurs twice among the names of the hosts");
  EXPECT_EQ(error("SLURM_STEP_TASKS_PER_NODE", "2"),
            "engine: SLURM_STEP_NUM_NODES is 2, but SLURM_STEP_TASKS_PER_NODE, '2', is for 1");
  for (const char* counts : {"2(x2", "2(3)", "0,1", "1,,1", "2(x99999999)", "-1,1", "1(x65536),1"}) {
    EXPECT_THAT(error("SLURM_STEP_TASKS_PER_NODE", counts), HasSubstr("allowed: counts such as 2(x3),1")) << counts;
  }
  EXPECT_THAT(error("SLURM_STEP_RESV_PORTS", "17000-99999"), HasSubstr("allowed: ports such as 17000-17003"));
  EXPECT_THAT(error("SLURM_JOB_ID", "x\n12"), HasSubstr("SLURM_JOB_ID is 'x?12'; allowed: a whole number"));
  EXPECT_FALSE(slurm.detect(facts_with({})).found);
}

TEST(SlurmTest, WhatDescribesOneTaskIsNotInheritedAndWhatDescribesTheJobIs) {
  std::vector<environments::Candidate> candidates;
  EnvironmentContext context;
  context.parameters = "{}";
  candidates.push_back({"slurm", std::make_unique<Slurm>(context), {}});
  const auto removed = environments::variables_to_remove(candidates, step().variables);
  EXPECT_THAT(removed, Contains("SLURM_PROCID"));
  EXPECT_THAT(removed, Contains("SLURM_STEP_NUM_TASKS"));
  EXPECT_THAT(removed, Not(Contains("SLURM_JOB_ID")));
  EXPECT_THAT(removed, Not(Contains("SLURM_JOB_NODELIST")));
}

}  // namespace
}  // namespace trainyard
