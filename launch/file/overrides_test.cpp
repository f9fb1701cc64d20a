// SPDX-License-Identifier: Apache-2.0
#include "launch/file/overrides.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launch/file/toml_reader.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using testing::error_of;

constexpr const char* kFile = R"(args = { devices = 1, text = "x" }
[component.optimizer]
params = { lr = 0.1, rule = "adamw" }
[group.eval.component.logger]
plugin = "logger"
)";

std::string overridden(const std::string& name, const std::string& text) {
  Value root = read_toml(kFile, "a.toml");
  apply_overrides(root, {{name, text}});
  return to_json(root).dump();
}

std::string overridden_in(const std::string& file, const std::vector<Assignment>& assignments) {
  Value root = read_toml(file, "a.toml");
  apply_overrides(root, assignments);
  return to_json(root).dump();
}

std::string error_in(const std::string& name) {
  return error_of([&] { overridden(name, "1"); });
}

std::string sorted(const std::vector<std::string>& words) {
  const CommandLine line = sort_command_line(words, read_toml(kFile, "a.toml"), {"max_steps", "seed"});
  std::string text;
  for (const auto& [name, value] : line.arguments) text += "argument " + name + "=" + value + ";";
  for (const Assignment& assignment : line.overrides) text += assignment.name + "=" + assignment.text + ";";
  return text;
}

TEST(OverridesTest, SortsWordsByWhatTheyMean) {
  EXPECT_EQ(sorted({"text=/a=b", "component.optimizer.params.lr=1"}),
            "argument text=/a=b;component.optimizer.params.lr=1;");
  EXPECT_EQ(sorted({"placement=processes", "max_steps=5"}), "topology.placement=processes;run.max_steps=5;");
}

TEST(OverridesTest, AnArgumentHidesAKeyOfTopology) { EXPECT_EQ(sorted({"devices=2"}), "argument devices=2;"); }

TEST(OverridesTest, TheLastWordOfANameWins) { EXPECT_EQ(sorted({"text=a", "text=b"}), "argument text=b;"); }

TEST(OverridesTest, UnknownWordsAreErrorsWithTheNearestName) {
  EXPECT_EQ(
      error_of([] { sorted({"max_step=5"}); }),
      "command line: max_step: no argument has this name; did you mean 'max_steps'? a parameter is given with its "
      "path, such as component.optimizer.params.lr=0.1; known without a path: accelerator, collective, devices, "
      "environment, join_timeout_s, key_file, max_steps, nodes, overcommit, placement, precision, ranks_per_host, "
      "seed, strategy, "
      "text");
}

TEST(OverridesTest, AWordThatIsAParameterOfTheFileIsAnsweredWithItsPathAlone) {
  EXPECT_EQ(error_of([] { sorted({"lr=0.5"}); }),
            "command line: lr: no argument has this name; a parameter is given with its path: "
            "component.optimizer.params.lr=0.5");
  const Value inner = read_toml("component.a.params.model = { plugin = 'mlp', hidden = [1] }", "a.toml");
  EXPECT_EQ(error_of([&] { sort_command_line({"hidden=[2]"}, inner, {}); }),
            "command line: hidden: no argument has this name; a parameter is given with its path: "
            "component.a.params.model.hidden=[2]");
  const Value two = read_toml("component.a.params.x = 1\ngroup.g.component.b.params.x = 1", "a.toml");
  EXPECT_EQ(error_of([&] { sort_command_line({"x=2"}, two, {}); }),
            "command line: x: no argument has this name; a parameter is given with its path: component.a.params.x=2 or "
            "group.g.component.b.params.x=2");
}

TEST(OverridesTest, AnotherPluginDropsTheParametersOfTheOldOneAsInAnInclude) {
  constexpr const char* kText = "component.l = { plugin = 'p', params = { set = { plugin = 'text', path = 'x' } } }";
  EXPECT_EQ(overridden_in(kText, {{"component.l.plugin", "q"}}), R"({"component":{"l":{"plugin":"q"}}})");
  EXPECT_EQ(overridden_in(kText, {{"component.l.params.set.plugin", "idx"}}),
            R"({"component":{"l":{"params":{"set":{"plugin":"idx"}},"plugin":"p"}}})");
  EXPECT_EQ(overridden_in(kText, {{"component.l.params.set.plugin", "text"}}),
            R"({"component":{"l":{"params":{"set":{"path":"x","plugin":"text"}},"plugin":"p"}}})")
      << "the same plugin";
}

TEST(OverridesTest, AnotherPluginKeepsTheParametersOfTheCommandLineWhateverTheirOrder) {
  constexpr const char* kText = "component.l = { plugin = 'p', params = { a = 1, set = 'text' } }";
  for (const bool first : {true, false}) {
    std::vector<Assignment> words{{"component.l.plugin", "q"}, {"component.l.params.b", "2"}};
    if (!first) std::ranges::reverse(words);
    EXPECT_EQ(overridden_in(kText, words), R"({"component":{"l":{"params":{"b":2},"plugin":"q"}}})");
  }
  EXPECT_EQ(overridden_in(kText, {{"component.l.params.set.n", "3"}, {"component.l.params.set.plugin", "idx"}}),
            R"({"component":{"l":{"params":{"a":1,"set":{"n":3,"plugin":"idx"}},"plugin":"p"}}})")
      << "a name is replaced by a table that names a plugin";
}

TEST(OverridesTest, WhatReplacesATableComesFromTheCommandLineAndWhatChangesAValueDoesNot) {
  Value root = read_toml("\n[component.l]\nplugin = 'p'\n[component.m]\nplugin = 'p'", "a.toml");
  apply_overrides(root, {{"component.l.plugin", "q"}, {"component.m.params.x", "1"}});
  EXPECT_EQ(to_text(root.find("component")->find("l")->origin), "command line");
  EXPECT_EQ(to_text(root.find("component")->find("m")->origin), "a.toml:4");
}

TEST(OverridesTest, ReplacesAValue) {
  EXPECT_EQ(overridden("component.optimizer.params.lr", "0.5"),
            R"({"args":{"devices":1,"text":"x"},"component":{"optimizer":{"params":{"lr":0.5,"rule":"adamw"}}},)"
            R"("group":{"eval":{"component":{"logger":{"plugin":"logger"}}}}})");
}

TEST(OverridesTest, AWholeTableMayReplaceAWordButIsMergedIntoATable) {
  EXPECT_EQ(overridden_in("topology.placement = 'composed'", {{"topology.placement", "{io=[\"logger\"]}"}}),
            R"({"topology":{"placement":{"io":["logger"]}}})");
  EXPECT_EQ(overridden_in("component.a.params = { x = 1, y = 2 }", {{"component.a.params", "{y=3}"}}),
            R"({"component":{"a":{"params":{"x":1,"y":3}}}})");
}

TEST(OverridesTest, MakesTablesThatAreMissing) {
  EXPECT_NE(overridden("group.eval.component.logger.params.csv", "false").find(R"("params":{"csv":false})"),
            std::string::npos);
  EXPECT_NE(overridden("run.max_steps", "100").find(R"("run":{"max_steps":100})"), std::string::npos);
}

TEST(OverridesTest, MakesNoComponents) {
  EXPECT_EQ(error_in("component.optimiser.params.lr"),
            "command line: component.optimiser.params.lr: no component is named 'optimiser'; did you mean 'optimizer'? "
            "known: optimizer");
  EXPECT_EQ(error_in("group.evil.component.logger.thread"),
            "command line: group.evil.component.logger.thread: no group is named 'evil'; did you mean 'eval'? known: "
            "eval");
  EXPECT_EQ(error_in("group.eval.component.loger.thread"),
            "command line: group.eval.component.loger.thread: no component is named 'loger'; did you mean 'logger'? "
            "known: logger");
}

TEST(OverridesTest, AValueDoesNotDropWhatTheCommandLineGivesInsideIt) {
  const Assignment rule{"component.optimizer.params.rule", "sgd"};
  const Assignment inside{"component.optimizer.params.rule.plugin", "adamw"};
  EXPECT_EQ(error_of([&] {
              overridden_in(kFile, {inside, rule});
            }),
            "command line: component.optimizer.params.rule: 'sgd' would drop component.optimizer.params.rule.plugin, "
            "which the command line gives, too");
}

TEST(OverridesTest, RefusesPathsThatLeadNowhere) {
  EXPECT_EQ(error_in("topolgy.devices"),
            "command line: topolgy.devices: unknown key 'topolgy'; did you mean 'topology'? known: component, group, "
            "run, topology");
  EXPECT_EQ(error_in("component.optimizer.params.rule.x"),
            "command line: component.optimizer.params.rule.x: 'rule' is \"adamw\" (a.toml:3), not a table; to change a "
            "plugin, give component.optimizer.params.rule.plugin, too");
  EXPECT_EQ(error_in("run..x"), "command line: run..x: is not allowed; at most 32 words with dots between them");
}

}  // namespace
}  // namespace trainyard::launch
