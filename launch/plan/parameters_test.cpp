// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/parameters.h"

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

class ParametersTest : public testing::PlanFixture {
 protected:
  std::string parameters(const Plan& plan, const std::string& name) { return component(plan, name).parameters; }
};

TEST_F(ParametersTest, PassesOnWhatTheFileGives) {
  const Plan plan = plan_six("component.optimizer.params = { lr = 1, rule = 'sgd' }");
  EXPECT_EQ(parameters(plan, "optimizer"), R"({"lr":1,"rule":"sgd"})");
  EXPECT_EQ(parameters(plan, "data_loader"), R"({"dataset":"synthetic"})");
  EXPECT_EQ(parameters(plan, "checkpoint_writer"), "{}");
}

TEST_F(ParametersTest, ValuesAreCheckedAgainstTheDeclaration) {
  EXPECT_EQ(error_six("[component.optimizer.params]\nlr = 'fast'"),
            "a.toml:3: component.optimizer.params.lr: \"fast\" is not allowed; a number > 0");
  EXPECT_EQ(error_six("", {"component.optimizer.params.rule=adam"}),
            "command line: component.optimizer.params.rule: \"adam\" is not allowed; one of: adamw, sgd; did you mean "
            "'adamw'?");
}

TEST_F(ParametersTest, UnknownNamesAreErrorsWithTheNearestOne) {
  EXPECT_EQ(error_six("[component.data_loader.params]\nbatchsize = 3"),
            "a.toml:3: component.data_loader.params.batchsize: unknown parameter; did you mean 'batch_size'? known: "
            "batch_size, dataset, shard, shards");
}

TEST_F(ParametersTest, RequiredOnesMustBeGiven) {
  EXPECT_EQ(error("[component]\nlogger.plugin = 'logger'\ndata_loader.plugin = 'data_loader'"),
            "a.toml:3: component.data_loader.params.dataset: must be given; the name of a dataset or a table with "
            "plugin = \"name\"");
}

TEST_F(ParametersTest, PluginsInsideParametersAreCheckedToo) {
  EXPECT_EQ(error_six("", {"component.data_loader.params.dataset=txt"}),
            "command line: component.data_loader.params.dataset: no dataset named 'txt'; did you mean 'text'? known: "
            "synthetic, text");
  EXPECT_EQ(error_six("", {"component.data_loader.params.dataset=text"}),
            "command line: component.data_loader.params.dataset.path: must be given; a string");
  EXPECT_EQ(error_six("\n[component.data_loader.params.dataset]\nplugin = 'text'\npath = 'x'\ncontxt = 3"),
            "a.toml:6: component.data_loader.params.dataset.contxt: unknown parameter; did you mean 'context'? known: "
            "context, path");
  EXPECT_EQ(error_six("", {"component.accelerator_host.params.model={plugin='mlp', hidden=[0]}"}),
            "command line: component.accelerator_host.params.model.hidden: [0] is not allowed; a list of integers > 0");
  EXPECT_EQ(error_six("", {"component.accelerator_host.params.model={plugin=3}"}),
            "command line: component.accelerator_host.params.model.plugin: 3 is not allowed; the name of a model");
}

TEST_F(ParametersTest, PluginsInListsAreCheckedToo) {
  catalogue_.add("component", "data_loader")
      .parameters.push_back(testing::parameter("transforms", ValueKind::kPlugins, "[]", plugin_kind("transform")));
  catalogue_.add("transform", "crop").parameters = {testing::parameter("size", ValueKind::kInteger, "", positive())};
  const std::string key = "component.data_loader.params.transforms";
  EXPECT_EQ(parameters(plan_six(key + " = [{ plugin = 'crop', size = 3 }]"), "data_loader"),
            R"({"dataset":"synthetic","transforms":[{"plugin":"crop","size":3}]})");
  EXPECT_EQ(error_six(key + " = [{ plugin = 'crop', size = 3 }, 'corp']"),
            "a.toml:2: " + key + "[1]: no transform named 'corp'; did you mean 'crop'? known: crop");
  EXPECT_EQ(error_six(key + " = [\n  { plugin = 'crop', size = 0 }]"),
            "a.toml:3: " + key + "[0].size: 0 is not allowed; an integer > 0");
  EXPECT_EQ(error_six(key + " = 'crop'"),
            "a.toml:2: " + key +
                ": \"crop\" is not allowed; a list, each entry the name of a transform or a table with "
                "plugin = \"name\"");
}

TEST_F(ParametersTest, TheDefaultOfAPluginIsCheckedToo) {
  catalogue_.add("strategy", "single_device").parameters = {testing::parameter("group", ValueKind::kString, "")};
  EXPECT_EQ(error_six(""), "six.toml:2: component.accelerator_host.params.strategy.group: must be given; a string");
}

TEST_F(ParametersTest, ThePlanSaysWhatAutoStandsFor) {
  const Plan plan = plan_six("", {"accelerator=auto", "strategy=auto"});
  EXPECT_EQ(parameters(plan, "accelerator_host"), R"({"accelerator":"cpu","model":"mlp","strategy":"single_device"})");
}

TEST_F(ParametersTest, WhatAComponentHasAgainstItsParametersTogetherIsAnError) {
  catalogue_.special_answers[{"strategy_manager", R"({"max_steps":3})"}] = {core::default_traits("component"),
                                                                            "the run has no end"};
  EXPECT_EQ(error_six("", {"max_steps=4"}), "(no error)");
  EXPECT_EQ(error_six("", {"max_steps=3"}), "six.toml:7: component.strategy_manager: the run has no end");
  catalogue_.say("strategy_manager", ComponentTraits{});
  EXPECT_EQ(error_six("", {"max_steps=3"}), "(no error)") << "its traits say that there is nothing to ask";
}

TEST_F(ParametersTest, APluginThatIsItsOwnDefaultIsAnError) {
  catalogue_.add("dataset", "synthetic").parameters = {
      testing::parameter("source", ValueKind::kPlugin, R"({"plugin":"synthetic"})", plugin_kind("dataset"))};
  EXPECT_NE(error_six("").find("plugins are nested more than 16 deep"), std::string::npos);
}

TEST_F(ParametersTest, TopologyGoesToWhoDeclaresIt) {
  const Plan plan = plan_six(
      "[topology]\naccelerator = { plugin = 'cpu', threads = 2 }\ndevices = 1\n"
      "strategy = 'single_device'\ncollective = 'auto'\nprecision = 'bf16-mixed'");
  EXPECT_EQ(parameters(plan, "accelerator_host"),
            R"({"accelerator":{"plugin":"cpu","threads":2},"collective":"auto","devices":"1","model":"mlp",)"
            R"("precision":"bf16-mixed","strategy":"single_device"})");
  EXPECT_EQ(parameters(plan, "optimizer"), "{}");
}

TEST_F(ParametersTest, AComponentsOwnValueIsStrongerThanTopology) {
  const Plan plan =
      plan_six("component.accelerator_host.params.precision = 'bf16-mixed'\n[topology]\nprecision = '32-true'");
  EXPECT_EQ(parameters(plan, "accelerator_host"), R"({"model":"mlp","precision":"bf16-mixed"})");
}

TEST_F(ParametersTest, TopologyIsCheckedWhereItStands) {
  EXPECT_EQ(error_six("[topology]\naccelerator = { plugin = 'cpu', thread = 2 }"),
            "a.toml:3: topology.accelerator.thread: unknown parameter; did you mean 'threads'? known: threads");
  EXPECT_EQ(error_six("", {"precision=fp8"}),
            "command line: topology.precision: \"fp8\" is not allowed; one of: 32-true, bf16-mixed, 32, bf16, 16");
  catalogue_.add("component", "accelerator_host").parameters.clear();
  EXPECT_EQ(error("[component.a]\nplugin = 'accelerator_host'\n[topology]\nprecision = '32-true'"),
            "a.toml:4: topology.precision: no component has a parameter 'precision'");
}

TEST_F(ParametersTest, RunGoesToTheStrategyManager) {
  const Plan plan = plan_six("[run]\nmax_steps = 100\nseed = 3", {"validate_every_steps=10"});
  EXPECT_EQ(parameters(plan, "strategy_manager"), R"({"max_steps":100,"validate_every_steps":10})");
  EXPECT_EQ(plan.seed, 3u);
}

TEST_F(ParametersTest, RunIsCheckedWhereItStands) {
  EXPECT_EQ(
      error_six("[run]\nmax_step = 100"),
      "a.toml:3: run.max_step: unknown key; did you mean 'max_steps'? known: directory, flush_denormals, log_level, "
      "max_steps, name, progress_timeout_s, seed, start_timeout_s, stop_timeout_s, validate_every_steps");
  EXPECT_EQ(error_six("[run]\nmax_steps = -1"), "a.toml:3: run.max_steps: -1 is not allowed; an integer >= 0");
  EXPECT_EQ(error_six("component.strategy_manager.params.max_steps = 1\n[run]\nmax_steps = 2"),
            "a.toml:4: run.max_steps: is given by component.strategy_manager.params.max_steps too (a.toml:2); only "
            "one of them can be");
}

TEST_F(ParametersTest, RunKeysWithoutAStrategyManagerAreErrors) {
  EXPECT_EQ(error("[component.a]\nplugin = 'optimizer'\n[run]\nmax_steps = 2"),
            "a.toml:4: run.max_steps: is for a component with plugin = \"strategy_manager\", and there is none; the "
            "launcher's own keys: known: directory, flush_denormals, log_level, name, progress_timeout_s, seed, "
            "start_timeout_s, "
            "stop_timeout_s");
}

TEST_F(ParametersTest, TextThatIsNotUtf8IsAnError) {
  EXPECT_EQ(error_six("", {"component.data_loader.params.dataset={plugin='text', path='\xff'}"}).substr(0, 66),
            "command line: component.data_loader.params.dataset: no dataset nam");
  EXPECT_EQ(error_six("[component.data_loader.params.dataset]\nplugin='text'\npath='x'",
                      {"component.data_loader.params.dataset.path=\xff"}),
            "a.toml:2: component.data_loader.params: holds text that is not UTF-8");
}

}  // namespace
}  // namespace trainyard::launch
