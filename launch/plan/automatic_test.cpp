// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/automatic.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AutomaticTest : public testing::PlanFixture {
 protected:
  static std::string chosen(const Plan& plan, const std::string& name, const std::string& host = "accelerator_host") {
    return nlohmann::json::parse(component(plan, host).parameters).value(name, nlohmann::json()).dump();
  }
  static std::string strategy(const Plan& plan, const std::string& host = "rank0/accelerator_host") {
    return chosen(plan, "strategy", host);
  }
  /// Returns every choice of the plan as "key = chosen".
  static std::vector<std::string> choices(const Plan& plan) {
    std::vector<std::string> all;
    for (const Choice& choice : plan.choices) all.push_back(choice.key + " = " + choice.chosen);
    return all;
  }

  void add_card(const std::string& name, int auto_priority, int devices) {
    AcceleratorReport report = testing::free_accelerator();
    report.traits.auto_priority = auto_priority;
    report.devices = devices;
    catalogue_.say(name, report);
  }
};

TEST_F(AutomaticTest, TheAcceleratorIsTheAvailableOneThatRanksHighest) {
  EXPECT_EQ(chosen(plan_six("", {"accelerator=auto"}), "accelerator"), R"("cpu")");
  add_card("better", 90, 1);
  add_card("best", 99, 0);
  add_card("rehearsal", 0, 64);
  EXPECT_EQ(chosen(plan_six("", {"accelerator=auto"}), "accelerator"), R"("better")");
  EXPECT_EQ(chosen(plan_six(), "accelerator"), "null") << "the component's own default is not auto";
}

TEST_F(AutomaticTest, HardwareIsAskedAnewBeforeItIsChosen) {
  add_card("better", 90, 0);
  plan_six("", {"accelerator=auto"});
  EXPECT_EQ(catalogue_.asked_anew, 2) << "better, which might have come back, then the processor";
}

TEST_F(AutomaticTest, WithoutAnyAcceleratorThePlanIsRefused) {
  add_card("cpu", 1, 0);
  EXPECT_EQ(error_six("[topology]\naccelerator = 'auto'"),
            "a.toml:3: topology.accelerator: no accelerator is available on this machine");
}

TEST_F(AutomaticTest, ATableKeepsTheParametersOfWhatIsChosen) {
  EXPECT_EQ(chosen(plan_six("", {"accelerator={plugin='auto', threads=2}"}), "accelerator"),
            R"({"plugin":"cpu","threads":2})");
}

TEST_F(AutomaticTest, ThePrecisionIsThatOfTheChosenAccelerator) {
  const Plan slow = plan_six("", {"precision=auto"});
  EXPECT_EQ(chosen(slow, "precision"), R"("32-true")");
  ASSERT_EQ(slow.choices.size(), 1u);
  EXPECT_EQ(slow.choices[0].reason, "the accelerator cpu prefers no other");
  EXPECT_TRUE(slow.choices[0].changes_results);

  AcceleratorReport card = testing::free_accelerator();
  card.traits.auto_priority = 90;
  card.traits.auto_precision = "bf16-mixed";
  card.traits.auto_precision_reason = "it multiplies bfloat16";
  catalogue_.say("card", card);
  const Plan fast = plan_six("", {"precision=auto", "accelerator=auto"});
  EXPECT_EQ(chosen(fast, "precision"), R"("bf16-mixed")");
  EXPECT_THAT(choices(fast), ElementsAre("accelerator = card", "precision = bf16-mixed"));
  EXPECT_EQ(fast.choices[1].reason, "it multiplies bfloat16");
}

TEST_F(AutomaticTest, APrecisionThatIsGivenIsKept) {
  EXPECT_EQ(chosen(plan_six("", {"precision=bf16-mixed"}), "precision"), R"("bf16-mixed")");
  EXPECT_EQ(chosen(plan_six(), "precision"), "null") << "auto has to be asked for";
}

TEST_F(AutomaticTest, AutomaticDevicesAreOneRank) {
  const Plan plan = plan_six("", {"devices=auto"});
  EXPECT_EQ(chosen(plan, "devices"), R"("1")");
  EXPECT_EQ(plan.world_size, 1u);
}

TEST_F(AutomaticTest, MinusOneIsARankOnEveryDeviceOfTheAccelerator) {
  add_card("cpu", 1, 3);
  add_card("card", 50, 2);
  EXPECT_EQ(plan_six("", {"devices=-1"}).world_size, 3u);
  EXPECT_EQ(chosen(plan_six("", {"devices=-1"}), "devices", "rank0/accelerator_host"), R"("3")");
  EXPECT_EQ(plan_six("", {"devices=-1", "accelerator=card"}).world_size, 2u);
  EXPECT_EQ(plan_six("", {"devices=-1", "accelerator=auto"}).world_size, 2u);
  EXPECT_EQ(error_six("[topology]\naccelerator = 'crd'\ndevices = -1"),
            "a.toml:3: topology.accelerator: no accelerator named 'crd'; did you mean 'card'? known: card, cpu, "
            "simulated");
}

TEST_F(AutomaticTest, MinusOneOfAnAcceleratorThatIsNotThereIsRefusedWithItsReason) {
  add_card("card", 50, 0);
  EXPECT_THAT(error_six("[topology]\naccelerator = 'card'\ndevices = -1"),
              HasSubstr("a.toml:3: topology.accelerator: the accelerator card is not available on this machine"));
}

TEST_F(AutomaticTest, OtherNumbersOfDevicesAreRefusedWithWhatIsAllowed) {
  EXPECT_EQ(error_six("", {"devices=-7"}),
            "command line: topology.devices: -7 is not allowed; a count from 1 to 4096, a list of device indices, "
            "\"auto\" for one rank, or -1 for a rank on every device");
}

TEST_F(AutomaticTest, AutoIsSingleDeviceForOneRankAndDdpForMore) {
  EXPECT_EQ(strategy(plan_six("", {"strategy=auto"}), "accelerator_host"), R"("single_device")");
  const Plan two = plan_six("", {"strategy=auto", "devices=2"});
  EXPECT_EQ(strategy(two), R"("ddp")");
  EXPECT_EQ(strategy(two, "rank1/accelerator_host"), R"("ddp")");
  EXPECT_EQ(strategy(plan_six("", {"strategy={plugin='auto', bucket_bytes=8}", "devices=2"})),
            R"({"bucket_bytes":8,"plugin":"ddp"})");
}

TEST_F(AutomaticTest, AFileThatNamesNoStrategyGetsOneThatServesItsRanks) {
  EXPECT_EQ(strategy(plan_six(), "accelerator_host"), "null") << "the plugin's own default serves one rank";
  EXPECT_EQ(strategy(plan_six("", {"devices=2"})), R"("ddp")");
}

TEST_F(AutomaticTest, ADefaultThatIsNotForOneRankStays) {
  catalogue_.add("component", "accelerator_host").parameters[2].default_json = R"({"plugin":"silent"})";
  EXPECT_EQ(strategy(plan_six("", {"devices=2"})), "null");
}

TEST_F(AutomaticTest, WhatEachGroupOfRanksDecidesStaysAuto) {
  EXPECT_EQ(chosen(plan_six("", {"collective=auto"}), "collective"), R"("auto")");
}

TEST_F(AutomaticTest, ThePlanTellsWhatWasChosenAndWhy) {
  EXPECT_THAT(choices(plan_six()), IsEmpty()) << "nothing was left open";
  add_card("cpu", 1, 2);
  const Plan plan = plan_six("", {"devices=-1", "accelerator=auto"});
  EXPECT_THAT(choices(plan), ElementsAre("devices = 2", "accelerator = cpu", "strategy = ddp", "placement = ranks"));
  EXPECT_THAT(describe(plan), HasSubstr("\nchosen\n"
                                        "  devices = 2 (given as -1): a rank on every device of cpu\n"));
  EXPECT_THAT(describe(plan), HasSubstr("\n  placement = ranks (not given): a process for each rank\n"));
  EXPECT_EQ(nlohmann::json::parse(to_json(plan)).at("choices").at(2).at("chosen"), "ddp");
}

}  // namespace
}  // namespace trainyard::launch
