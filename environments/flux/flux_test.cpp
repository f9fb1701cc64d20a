// SPDX-License-Identifier: Apache-2.0
#include "environments/flux/flux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/testing/facts.h"

namespace trainyard {
namespace {

using testing::changed;
using testing::facts_with;

ProcessFacts task() {
  return facts_with({{"FLUX_TASK_RANK", "1"},
                     {"FLUX_TASK_LOCAL_ID", "0"},
                     {"FLUX_JOB_SIZE", "2"},
                     {"FLUX_JOB_NNODES", "2"},
                     {"FLUX_JOB_ID", "f3ETxsR9H"}});
}

TEST(FluxTest, OneTaskOnEachHostIsThatHost) {
  const testing::UnderTest<Flux> flux;
  EXPECT_TRUE(flux.detect(task()).found);
  const Allocation allocation = flux.allocation(task());
  EXPECT_EQ(allocation.host, 1u);
  EXPECT_EQ(allocation.hosts, 2u);
  EXPECT_EQ(allocation.processes, 1u);
  EXPECT_EQ(allocation.job, "f3ETxsR9H");
  EXPECT_FALSE(allocation.meeting);
  EXPECT_EQ(flux.allocation(changed(task(), {{"TRAINYARD_HOST_NAMES", "a,b"}})).meeting->host, "a");
}

TEST(FluxTest, SeveralTasksOnOneHostAreProcessesOfThisHost) {
  const Allocation allocation = testing::UnderTest<Flux>().allocation(changed(task(), {{"FLUX_JOB_NNODES", "1"}}));
  EXPECT_EQ(allocation.hosts, 1u);
  EXPECT_EQ(allocation.process, 1u);
  EXPECT_EQ(allocation.processes, 2u);
}

TEST(FluxTest, SeveralTasksOnSeveralHostsAreToldWhatToDo) {
  EXPECT_EQ(
      testing::UnderTest<Flux>().error(changed(task(), {{"FLUX_JOB_SIZE", "4"}})),
      "engine: 4 tasks on 2 hosts; Flux does not tell a task on which host it is, so start one on each host: flux "
      "run --nodes=2 --tasks-per-node=1");
}

}  // namespace
}  // namespace trainyard
