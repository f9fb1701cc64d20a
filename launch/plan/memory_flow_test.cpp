// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/memory_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class MemoryFlowTest : public testing::PlanFixture {
 protected:
  MemoryFlowTest() {
    AcceleratorReport report = testing::free_accelerator();
    report.traits.host_memory = false;
    catalogue_.say("far", report);
    catalogue_.add("component", "optimizer")
        .parameters.push_back(testing::parameter("memory", ValueKind::kString, R"("auto")"));
    catalogue_.say("served", StrategyTraits{.updates_on_host = true});
  }

  /// Lets other processes use the memory of the accelerator `far` through the device plugin `far_memory`.
  void share_far() {
    AcceleratorReport report = testing::free_accelerator();
    report.traits.host_memory = false;
    report.traits.shares_memory_by = "far_memory";
    catalogue_.say("far", report);
  }

  static constexpr const char* kFar = "component.accelerator_host.params.accelerator=far";

  static std::string memory_of(const Plan& plan, const std::string& optimizer = "optimizer") {
    return nlohmann::json::parse(component(plan, optimizer).parameters).value("memory", "");
  }
};

TEST_F(MemoryFlowTest, NothingIsSaidOfARunInHostMemory) {
  const Plan plan = plan_six();
  EXPECT_THAT(plan.memory, IsEmpty());
  EXPECT_THAT(describe(plan), Not(HasSubstr("trains in the memory")));
}

TEST_F(MemoryFlowTest, TheOptimizerWorksOnTheDeviceIfItSharesTheProcess) {
  for (const char* placement : {"placement=composed", "placement=ranks"}) {
    const Plan plan = plan_six("", {kFar, placement, "devices=2"});
    ASSERT_EQ(plan.memory.size(), 2u);
    EXPECT_EQ(plan.memory[1].rank, 1u);
    EXPECT_EQ(plan.memory[1].host_updates_because, "");
    EXPECT_THAT(plan.memory[0].savers, ElementsAre("checkpoint_writer"));
    EXPECT_EQ(memory_of(plan, "rank1/optimizer"), "device");
    EXPECT_THAT(describe(plan), HasSubstr("rank 1 trains in the memory of far"));
    EXPECT_THAT(describe(plan), HasSubstr("exchanges between ranks, through host"));
  }
}

TEST_F(MemoryFlowTest, TheReasonIsGivenIfItWorksOnTheHost) {
  const Plan apart = plan_six("", {kFar, "placement=processes"});
  EXPECT_EQ(apart.memory.at(0).host_updates_because,
            "optimizer is not in the process of accelerator_host, and the accelerator far cannot share its memory");
  EXPECT_EQ(memory_of(apart), "host");
  const Plan served = plan_six("", {kFar, "placement=composed", "strategy=served"});
  EXPECT_EQ(served.memory.at(0).host_updates_because, "the strategy served updates parameters in host memory");
  const Plan asked = plan_six("", {kFar, "placement=composed", "component.optimizer.params.memory=host"});
  EXPECT_EQ(asked.memory.at(0).host_updates_because, "memory = \"host\" is given");
  EXPECT_THAT(describe(asked), HasSubstr("gradients to the host, parameters to the device"));
  const auto json = nlohmann::json::parse(to_json(asked));
  EXPECT_EQ(json.at("memory").at(0).at("updates"), "host");
}

TEST_F(MemoryFlowTest, TheOptimizerWorksOnTheDeviceFromAnotherProcessIfADevicePluginSharesItsMemory) {
  share_far();
  const std::vector<std::string> apart{kFar, "placement=processes", "devices=2"};
  EXPECT_EQ(
      plan_six("", apart).memory.at(1).host_updates_because,
      "rank1/optimizer is not in the process of rank1/accelerator_host, and the device plugin far_memory, through "
      "which processes share memory, is not there");
  catalogue_.add("device", "far_memory");
  const Plan plan = plan_six("", apart);
  EXPECT_EQ(plan.memory.at(1).host_updates_because, "");
  EXPECT_EQ(plan.memory.at(1).shared_by, "far_memory");
  EXPECT_EQ(memory_of(plan, "rank1/optimizer"), "device");
  EXPECT_THAT(describe(plan), HasSubstr("from its own process, through the device plugin far_memory"));
  EXPECT_EQ(nlohmann::json::parse(to_json(plan)).at("memory").at(0).at("shared_by"), "far_memory");
  EXPECT_EQ(plan_six("", {kFar, "placement=composed"}).memory.at(0).shared_by, "") << "it is not needed in one process";
  const Plan asked = plan_six("", {kFar, "placement=processes", "component.optimizer.params.memory=host"});
  EXPECT_EQ(asked.memory.at(0).shared_by, "");
}

TEST_F(MemoryFlowTest, AHostThatDoesNotLearnOfTheStateCannotShareItsMemory) {
  share_far();
  catalogue_.add("device", "far_memory");
  auto& inputs = catalogue_.add("component", "accelerator_host").inputs;
  std::erase_if(inputs, [](const core::PortInfo& port) { return port.name == "optimizer_state"; });
  EXPECT_EQ(plan_six("", {kFar, "placement=processes"}).memory.at(0).host_updates_because,
            "optimizer is not in the process of accelerator_host, and does not send OptimizerState to it");
}

TEST_F(MemoryFlowTest, AnOptimizerThatKnowsNoDevicesWorksOnTheHost) {
  catalogue_.add("component", "optimizer").parameters.clear();
  const Plan plan = plan_six("", {kFar, "placement=composed"});
  EXPECT_EQ(plan.memory.at(0).host_updates_because, "the component optimizer works on host memory");
}

TEST_F(MemoryFlowTest, AWishThatIsNotPossibleIsRefusedWithItsReason) {
  const std::string wish = "component.optimizer.params.memory = 'device'";
  EXPECT_THAT(error_six(wish), HasSubstr("a.toml:2: component.optimizer.params.memory: \"device\" is not possible, "
                                         "because the accelerator cpu trains in host memory; allowed: \"auto\", "
                                         "\"host\""));
  EXPECT_THAT(error_six(wish, {kFar, "placement=processes"}),
              HasSubstr("because optimizer is not in the process of accelerator_host, and the accelerator far cannot"));
  EXPECT_EQ(memory_of(plan_six(wish, {kFar, "placement=composed"})), "device");
}

}  // namespace
}  // namespace trainyard::launch
