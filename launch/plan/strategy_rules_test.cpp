// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/strategy_rules.h"

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

class StrategyRulesTest : public testing::PlanFixture {
 protected:
  static std::string loader_parameters(const Plan& plan) { return component(plan, "rank1/data_loader").parameters; }
};

TEST_F(StrategyRulesTest, ANumberOfRanksThatTheStrategyDoesNotServeIsRefused) {
  EXPECT_EQ(error_six("[topology]\nstrategy = 'single_device'\ndevices = 4"),
            "a.toml:4: topology.devices: 4 ranks are not allowed with the strategy single_device, which serves 1");
  EXPECT_EQ(error_six("[topology]\nstrategy = 'pipeline'\ndevices = 5"),
            "a.toml:4: topology.devices: 5 ranks are not allowed with the strategy pipeline, which serves 2 to 4");
  EXPECT_EQ(
      error_six("[topology]\nstrategy = { plugin = 'pipeline' }"),
      "a.toml:3: topology.strategy.plugin: 1 rank is not allowed with the strategy pipeline, which serves 2 to 4; "
      "topology.devices says how many there are");
  EXPECT_EQ(error_six("component.accelerator_host.params.strategy = 'single_device'", {"devices=2"}),
            "command line: topology.devices: 2 ranks are not allowed with the strategy single_device, which serves 1");
}

TEST_F(StrategyRulesTest, AStrategyThatDeclaresNothingServesAnyNumber) {
  for (const std::string ranks : {"1", "3"}) {
    EXPECT_EQ(error_six("", {"strategy=silent", "devices=" + ranks}), "(no error)");
  }
}

TEST_F(StrategyRulesTest, IsAskedAnewBeforeItsWordsRefuseAnything) {
  plan_six("", {"strategy=ddp", "devices=4"});
  EXPECT_EQ(catalogue_.asked_anew, 0);
  error_six("", {"strategy=pipeline", "devices=9"});
  EXPECT_EQ(catalogue_.asked_anew, 1);
}

TEST_F(StrategyRulesTest, WhatItSaysMayDependOnItsParameters) {
  catalogue_.special_answers[{"ddp", R"({"bucket_bytes":8})"}] = {{StrategyTraits{.max_ranks = 2}}, ""};
  EXPECT_EQ(error_six("", {"strategy={plugin='ddp', bucket_bytes=8}", "devices=3"}),
            "command line: topology.devices: 3 ranks are not allowed with the strategy ddp, which serves 1 to 2");
  EXPECT_EQ(error_six("", {"strategy={plugin='ddp', bucket_bytes=9}", "devices=3"}), "(no error)");
}

TEST_F(StrategyRulesTest, RanksThatShareAProcessAreComposedUnlessToldOtherwise) {
  const Plan plan = plan_six("", {"strategy=dp", "devices=2"});
  EXPECT_EQ(plan.processes.size(), 1u);
  EXPECT_EQ(component(plan, "rank1/accelerator_host").thread, "rank1.compute");
  EXPECT_EQ(plan_six("topology.placement = { io = ['logger'] }", {"strategy=dp", "devices=2"}).processes.size(), 2u);
  EXPECT_EQ(plan_six("", {"strategy=dp", "devices=1", "placement=processes"}).processes.size(), 6u);
}

TEST_F(StrategyRulesTest, RanksThatShareAProcessAreNotPlacedApart) {
  const std::string rest =
      " is not allowed with the strategy dp, whose ranks share one process; allowed is placement = \"composed\"";
  const std::vector<std::string> two{"strategy=dp", "devices=2"};
  EXPECT_EQ(error_six("topology.placement = 'ranks'", two), "a.toml:2: topology.placement: \"ranks\"" + rest);
  EXPECT_EQ(error_six("topology.placement = 'processes'", two), "a.toml:2: topology.placement: \"processes\"" + rest);
  EXPECT_EQ(error_six("topology.placement = { io = ['accelerator_host'] }", two),
            "a.toml:2: topology.placement.io: \"accelerator_host\"" + rest);
  EXPECT_EQ(error_six("component.accelerator_host.process = 'x'", two),
            "a.toml:2: component.accelerator_host.process: \"x\"" + rest);
}

TEST_F(StrategyRulesTest, RanksWithTheSameDataReadTheWholeDataset) {
  EXPECT_EQ(loader_parameters(plan_six("", {"strategy=pipeline", "devices=2"})),
            R"({"dataset":"synthetic","shard":0,"shards":1})");
  EXPECT_EQ(loader_parameters(plan_six("component.data_loader.params.shards = 3", {"strategy=pipeline", "devices=2"})),
            R"({"dataset":"synthetic","shard":0,"shards":3})")
      << "the file's own words are stronger";
  EXPECT_EQ(loader_parameters(plan_six("", {"strategy=ddp", "devices=2"})), R"({"dataset":"synthetic"})");
  std::erase_if(catalogue_.add("component", "data_loader").parameters,
                [](const ParameterInfo& info) { return info.name.starts_with("shard"); });
  EXPECT_EQ(loader_parameters(plan_six("", {"strategy=pipeline", "devices=2"})), R"({"dataset":"synthetic"})");
}

}  // namespace
}  // namespace trainyard::launch
