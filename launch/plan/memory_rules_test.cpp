// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/memory_rules.h"

#include <gmock/gmock.h>

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

/// Tests with a machine that has 1 GiB, and an accelerator host that needs 100 MiB.
class MemoryRulesTest : public testing::PlanFixture {
 protected:
  MemoryRulesTest() {
    machine_.memory_bytes = 1ull << 30;
    catalogue_.say("accelerator_host", ComponentTraits{.per_rank = true, .memory_bytes = 100ull << 20});
    AcceleratorReport cpu = testing::free_accelerator();
    cpu.traits.shared_devices = true;
    catalogue_.say("cpu", cpu);
  }
};

TEST_F(MemoryRulesTest, RanksThatNeedMoreMemoryThanThereIsAreRefused) {
  EXPECT_EQ(error_six("", {"devices=9"}), "(no error)");
  EXPECT_EQ(error_six("[topology]\ndevices = 500"),
            "a.toml:3: topology.devices: 500 needs at least 52.7 GiB of memory, without model and data, and this "
            "machine has 1.0 GiB; fewer ranks or processes need less, and topology.overcommit = true starts it all "
            "the same");
}

TEST_F(MemoryRulesTest, TheErrorNamesHowItIsOverridden) {
  EXPECT_EQ(plan_six("", {"devices=500", "overcommit=true"}).world_size, 500u);
}

TEST_F(MemoryRulesTest, RanksOfOneProcessShareWhatItLoads) {
  EXPECT_EQ(error_six("", {"devices=500", "placement=composed"}), "(no error)");
}

TEST_F(MemoryRulesTest, ARunWithoutRanksIsCountedAsWell) {
  catalogue_.say("logger", ComponentTraits{.memory_bytes = 2ull << 30});
  EXPECT_THAT(error_six(""), ::testing::HasSubstr("a.toml: the run needs at least 2.1 GiB of memory"));
}

TEST_F(MemoryRulesTest, NothingIsRefusedWhereTheMemoryIsNotKnown) {
  machine_.memory_bytes = 0;
  EXPECT_EQ(error_six("", {"devices=500"}), "(no error)");
}

TEST(MachineTest, HasSomeMemory) { EXPECT_GT(this_machine().memory_bytes, 100ull << 20); }

}  // namespace
}  // namespace trainyard::launch
