// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/placement.h"

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

class PlacementTest : public testing::PlanFixture {
 protected:
  static std::vector<std::string> processes(const Plan& plan) {
    std::vector<std::string> names;
    for (const PlannedProcess& process : plan.processes) names.push_back(process.name);
    return names;
  }
  static std::string place_of(const Plan& plan, const std::string& name) {
    return component(plan, name).process + "/" + component(plan, name).thread;
  }
};

using Names = std::vector<std::string>;

TEST_F(PlacementTest, ComposedIsOneProcessWithTheThreadsThatPluginsLike) {
  const Plan plan = plan_six();
  EXPECT_EQ(processes(plan), Names{"main"});
  EXPECT_EQ(place_of(plan, "data_loader"), "main/loader");
  EXPECT_EQ(place_of(plan, "optimizer"), "main/compute");
  EXPECT_EQ(place_of(plan, "strategy_manager"), "main/main");
}

TEST_F(PlacementTest, ProcessesIsOneForEachComponent) {
  const Plan plan = plan_six("", {"placement=processes"});
  EXPECT_EQ(processes(plan),
            (Names{"accelerator_host", "checkpoint_writer", "data_loader", "logger", "optimizer", "strategy_manager"}));
  EXPECT_EQ(place_of(plan, "logger"), "logger/logger");
}

TEST_F(PlacementTest, RanksIsOneForEachRankAndMainForTheRest) {
  const Plan plan = plan_six("", {"placement=ranks", "devices=2"});
  EXPECT_EQ(processes(plan), (Names{"rank0", "rank1", "main"}));
  EXPECT_EQ(place_of(plan, "rank1/optimizer"), "rank1/rank1.compute");
  EXPECT_EQ(place_of(plan, "rank0/data_loader"), "rank0/rank0.loader");
  EXPECT_EQ(place_of(plan, "logger"), "main/logger");
  EXPECT_EQ(processes(plan_six("", {"placement=ranks"})), Names{"main"}) << "a single rank is no reason for a second";
}

TEST_F(PlacementTest, SeveralRanksAreProcessesUnlessTheFileSaysOtherwise) {
  EXPECT_EQ(processes(plan_six("", {"devices=2"})), (Names{"rank0", "rank1", "main"}));
  EXPECT_EQ(processes(plan_six("", {"devices=2", "placement=composed"})), Names{"main"});
  EXPECT_EQ(processes(plan_six("topology.placement = { io = ['logger'] }", {"devices=2"})), (Names{"main", "io"}));
}

TEST_F(PlacementTest, RanksAlsoHaveTheirOwnOfWhatTheFileNames) {
  const Plan plan = plan_six("component.optimizer.process = 'side'", {"devices=2"});
  EXPECT_EQ(component(plan, "rank1/optimizer").process, "rank1.side");
  EXPECT_EQ(component(plan, "rank1/accelerator_host").process, "rank1");
}

TEST_F(PlacementTest, IndicesDoNotDependOnPlacement) {
  const Plan composed = plan_six(), split = plan_six("", {"placement=processes"});
  for (std::size_t i = 0; i < composed.components.size(); ++i) {
    EXPECT_EQ(composed.components[i].index, i);
    EXPECT_EQ(composed.components[i].name, split.components[i].name);
  }
}

TEST_F(PlacementTest, ATablePlacesSomeAndMainTheRest) {
  const Plan plan = plan_six("[topology.placement]\nio = ['logger', 'checkpoint_writer']");
  EXPECT_EQ(processes(plan), (Names{"main", "io"}));
  EXPECT_EQ(component(plan, "logger").process, "io");
  EXPECT_EQ(component(plan, "optimizer").process, "main");
}

TEST_F(PlacementTest, AComponentsOwnWordsAreStrongest) {
  const Plan plan =
      plan_six("component.logger.process = 'side'\ncomponent.logger.thread = 'fast'", {"placement=processes"});
  EXPECT_EQ(place_of(plan, "logger"), "side/fast");
}

TEST_F(PlacementTest, TwoWordsAboutOneComponentAreAnError) {
  EXPECT_EQ(error_six("component.logger.process = 'side'\n[topology.placement]\nio = ['logger']"),
            "a.toml:2: component.logger.process: \"side\" contradicts topology.placement (a.toml:4), which says "
            "\"io\"");
}

TEST_F(PlacementTest, UnknownComponentsAreErrorsWithTheNearestName) {
  EXPECT_EQ(error_six("[topology.placement]\nio = ['loger']"),
            "a.toml:3: topology.placement.io: no component is named 'loger'; did you mean 'logger'? known: "
            "accelerator_host, checkpoint_writer, data_loader, logger, optimizer, strategy_manager");
}

TEST_F(PlacementTest, AnAddressMeansAProcessOfItsOwn) {
  const Plan plan = plan_six("component.logger.host = '127.0.0.1'");
  EXPECT_EQ(component(plan, "logger").process, "logger");
  EXPECT_TRUE(process(plan, "logger").tcp);
}

TEST_F(PlacementTest, OneProcessHasOneHost) {
  EXPECT_EQ(error_six("component.logger.host = '127.0.0.1'\ncomponent.logger.process = 'main'"),
            "a.toml:2: component.logger.host: components of the process 'main' have different hosts; all must have the "
            "same");
}

TEST_F(PlacementTest, EnvironmentsOfOneProcessAreJoined) {
  const Plan plan =
      plan_six("component.logger.environment = { A = '1' }\ncomponent.optimizer.environment = { A = '1', B = '2' }");
  EXPECT_EQ(process(plan, "main").environment, (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}));
  EXPECT_EQ(error_six("component.logger.environment = { A = '1' }\ncomponent.optimizer.environment = { A = '2' }"),
            "a.toml:3: component.optimizer.environment.A: \"2\" contradicts \"1\" of another component in the process "
            "'main'");
}

TEST_F(PlacementTest, AProcessIsRespawnedOnlyAsFarAsAllAllow) {
  const std::string text = "component.logger.respawn = 'always'\n";
  EXPECT_EQ(process(plan_six(text), "main").respawn.when, RespawnPolicy::When::kNever);
  EXPECT_EQ(process(plan_six(text, {"placement=processes"}), "logger").respawn.when, RespawnPolicy::When::kAlways);
  const Plan plan = plan_six(text +
                             "component.checkpoint_writer.respawn = { policy = 'on_failure', max = 9 }\n"
                             "[topology.placement]\nio = ['logger', 'checkpoint_writer']");
  EXPECT_EQ(process(plan, "io").respawn.when, RespawnPolicy::When::kOnFailure);
  EXPECT_EQ(process(plan, "io").respawn.max, 9u);
}

TEST_F(PlacementTest, WhatCannotComeBackIsNotRespawned) {
  EXPECT_EQ(
      error_six("component.optimizer.respawn = 'always'"),
      "a.toml:2: component.optimizer.respawn: \"always\" is not allowed: a run cannot go on with a new optimizer, "
      "because others rely on what the old one held; allowed is \"never\"");
  EXPECT_EQ(error_six("component.optimizer.respawn = 'never'"), "(no error)");
  catalogue_.say("optimizer", ComponentTraits{.per_rank = true, .thread = "compute"});
  EXPECT_EQ(error_six("component.optimizer.respawn = 'always'"), "(no error)") << "its traits decide, not its name";
}

TEST_F(PlacementTest, AProcessIsRequiredIfOneComponentIs) {
  const std::string text = "component.logger.required = false\n";
  EXPECT_TRUE(process(plan_six(text), "main").required);
  EXPECT_FALSE(process(plan_six(text, {"placement=processes"}), "logger").required);
}

TEST_F(PlacementTest, ComponentsOnOneThreadCannotHaveDifferentCpus) {
  const Plan plan = plan_six("component.optimizer.cpus = [1]");
  EXPECT_EQ(component(plan, "optimizer").cpus, std::vector<std::uint32_t>{1});
  EXPECT_EQ(error_six("component.optimizer.cpus = [1]\ncomponent.accelerator_host.cpus = [0]"),
            "a.toml:2: component.optimizer.cpus: contradicts the cpus of 'accelerator_host', which shares the thread "
            "'compute' of the process 'main'");
}

TEST_F(PlacementTest, ExternalProgramsComeLast) {
  const Plan plan = plan_six(
      "[component.an_echo]\ncommand = ['cat', '-u']\ncpus = [1]\nparams = { a = [1] }\n"
      "environment = { X = 'y' }\nrequired = false");
  EXPECT_EQ(processes(plan), (Names{"main", "an_echo"}));
  const PlannedProcess& echo = process(plan, "an_echo");
  EXPECT_EQ(echo.command, (Names{"cat", "-u"}));
  EXPECT_EQ(echo.parameters, R"({"a":[1]})");
  EXPECT_EQ(echo.environment.at("X"), "y");
  EXPECT_EQ(echo.cpus, std::vector<std::uint32_t>{1});
  EXPECT_FALSE(echo.required);
  EXPECT_EQ(plan.components.size(), 6u);
}

TEST_F(PlacementTest, ExternalProgramsHaveNamesOfTheirOwn) {
  EXPECT_EQ(error_six("[component.main]\ncommand = ['cat']"),
            "a.toml:2: component.main: a process 'main' exists already");
}

}  // namespace
}  // namespace trainyard::launch
