// SPDX-License-Identifier: Apache-2.0
#include "launch/file/component_reader.h"

#include <gtest/gtest.h>

#include "launch/file/toml_reader.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

std::vector<ComponentSpec> read(const std::string& text) { return read_components(read_toml(text, "a.toml")); }

/// Reads a component 'c' with a plugin. Its other keys, in `text`, start on line 3.
ComponentSpec read_one(const std::string& text) { return read("[component.c]\nplugin = 'x'\n" + text).at(0); }

std::string error(const std::string& text) {
  return testing::error_of([&] { read(text); });
}
std::string error_one(const std::string& text) {
  return testing::error_of([&] { read_one(text); });
}

TEST(ComponentReaderTest, HasDefaults) {
  const ComponentSpec spec = read_one("");
  EXPECT_EQ(spec.name, "c");
  EXPECT_EQ(spec.key, "component.c");
  EXPECT_EQ(spec.plugin.text, "x");
  EXPECT_EQ(spec.plugin.origin.line, 2u);
  EXPECT_FALSE(spec.tcp);
  EXPECT_TRUE(spec.required);
  EXPECT_EQ(spec.respawn.when, RespawnPolicy::When::kNever);
  EXPECT_FALSE(spec.process || spec.thread);
}

TEST(ComponentReaderTest, ReadsEveryKey) {
  const ComponentSpec spec = read_one(R"(namespace = "n"
params = { a = 1 }
remap = { out = "/x" }
inputs = { in = { policy = "latest", window_messages = 2, window_bytes = 3 } }
environment = { A = "b" }
process = "p"
thread = "t"
host = "localhost"
cpus = [1, 3]
required = false
respawn = { policy = "always", delay_ms = 0, max = 5, window_ms = 10 }
)");
  EXPECT_EQ(spec.name, "n/c");
  EXPECT_EQ(spec.remap.at("out").text, "/x");
  EXPECT_EQ(spec.inputs.at("in").policy, Policy::kLatest);
  EXPECT_EQ(spec.inputs.at("in").window_messages, 2u);
  EXPECT_EQ(spec.inputs.at("in").window_bytes, 3u);
  EXPECT_EQ(spec.environment.at("A"), "b");
  EXPECT_EQ(spec.process->text, "p");
  EXPECT_EQ(spec.thread->text, "t");
  EXPECT_TRUE(spec.tcp);
  EXPECT_EQ(spec.cpus, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_FALSE(spec.required);
  EXPECT_EQ(spec.respawn.when, RespawnPolicy::When::kAlways);
  EXPECT_EQ(spec.respawn.max, 5u);
  EXPECT_EQ(spec.respawn.window, std::chrono::milliseconds(10));
}

TEST(ComponentReaderTest, ReadsExternalPrograms) {
  const auto specs = read("[component.l]\ncommand = ['python3', 'l.py']\nrespawn = 'on_failure'\ncpus = [0]");
  EXPECT_EQ(specs[0].command, (std::vector<std::string>{"python3", "l.py"}));
  EXPECT_EQ(specs[0].respawn.when, RespawnPolicy::When::kOnFailure);
}

TEST(ComponentReaderTest, GroupsGiveNamespaceConditionAndEnvironment) {
  const auto specs = read(R"([group.g]
namespace = "eval"
environment = { A = "group", B = "group" }
component.c = { plugin = "x", namespace = "deep", environment = { B = "own" } }
[group.off]
when = false
component.d = { plugin = "x" }
)");
  ASSERT_EQ(specs.size(), 1u);
  EXPECT_EQ(specs[0].name, "eval/deep/c");
  EXPECT_EQ(specs[0].name_space, "eval/deep");
  EXPECT_EQ(specs[0].key, "group.g.component.c");
  EXPECT_EQ(specs[0].environment, (std::map<std::string, std::string>{{"A", "group"}, {"B", "own"}}));
}

TEST(ComponentReaderTest, LeavesOutWhatIsSwitchedOff) {
  const auto specs = read("[component]\nb = { plugin = 'x', when = 'a != a' }\na = { plugin = 'x', when = true }");
  ASSERT_EQ(specs.size(), 1u);
  EXPECT_EQ(specs[0].name, "a");
}

TEST(ComponentReaderTest, NamesAreUniqueOverAllGroups) {
  EXPECT_EQ(error("[component.c]\nplugin = 'x'\n[group.g.component.c]\nplugin = 'x'"),
            "a.toml:3: group.g.component.c: the name 'c' is taken by component.c (a.toml:1)");
}

TEST(ComponentReaderTest, UnknownKeysAreErrorsWithTheNearestOne) {
  EXPECT_EQ(error_one("parms = {}"),
            "a.toml:3: component.c.parms: unknown key; did you mean 'params'? known: command, cpus, declaration, "
            "environment, host, inputs, namespace, params, plugin, process, remap, required, respawn, thread, when");
  EXPECT_EQ(error("[group.g]\ncomponents = {}"),
            "a.toml:2: group.g.components: unknown key; did you mean 'component'? known: component, environment, "
            "namespace, when");
  EXPECT_EQ(error_one("\ninputs.in.window = 3"),
            "a.toml:4: component.c.inputs.in.window: unknown key; did you mean 'window_bytes'? known: policy, "
            "window_bytes, window_messages");
}

TEST(ComponentReaderTest, NeedsExactlyOneOfPluginAndCommand) {
  EXPECT_EQ(error("\n[component.c]\nparams = {}"),
            "a.toml:2: component.c: needs plugin = \"name\" or command = [\"program\", ...]");
  EXPECT_EQ(error("\n[component.data_loder.params]\nbatch_size = 1\n[component.data_loader]\nplugin = 'p'"),
            "a.toml:2: component.data_loder: needs plugin = \"name\" or command = [\"program\", ...]; did you mean "
            "'data_loader'?");
  EXPECT_EQ(error_one("command = ['a']"), "a.toml:1: component.c: has plugin and command; only one of them can be");
  EXPECT_EQ(error("component.c.command = []"),
            "a.toml:1: component.c.command: [] is not allowed; a program and arguments");
}

TEST(ComponentReaderTest, ExternalProgramsHaveNoPorts) {
  EXPECT_EQ(error("[component.c]\ncommand = ['a']\nremap = { x = 'y' }"),
            "a.toml:3: component.c.remap: is not for an external program; only for a plugin, or for a program with the "
            "key 'declaration'");
}

TEST(ComponentReaderTest, ChecksEveryKind) {
  EXPECT_EQ(error_one("params = 3"), "a.toml:3: component.c.params: 3 is not allowed; a table");
  EXPECT_EQ(error_one("plugin2 = 3").substr(0, 45), "a.toml:3: component.c.plugin2: unknown key; d");
  EXPECT_EQ(error_one("remap = { a = 1 }"), "a.toml:3: component.c.remap.a: 1 is not allowed; a string");
  EXPECT_EQ(error_one("cpus = [-1]"), "a.toml:3: component.c.cpus: -1 is not allowed; a list of integers >= 0");
  EXPECT_EQ(error_one("required = 'yes'"), "a.toml:3: component.c.required: \"yes\" is not allowed; true or false");
  EXPECT_EQ(error_one("thread = 'a/b'").substr(0, 46), "a.toml:3: component.c.thread: \"a/b\" is not a n");
  EXPECT_EQ(error_one("inputs.in.window_messages = 0"),
            "a.toml:3: component.c.inputs.in.window_messages: 0 is not allowed; an integer >= 1");
  EXPECT_EQ(error_one("inputs.in.policy = 'drop'"),
            "a.toml:3: component.c.inputs.in.policy: \"drop\" is not allowed; one of: block, latest, drop_oldest; did "
            "you mean 'drop_oldest'?");
  EXPECT_EQ(error_one("respawn = 'allways'"),
            "a.toml:3: component.c.respawn: \"allways\" is not allowed; one of: never, on_failure, always; did you "
            "mean 'always'?");
  EXPECT_EQ(error_one("respawn.max = 0"),
            "a.toml:3: component.c.respawn.max: 0 is not allowed; an integer >= 1 and <= 1000000");
  EXPECT_EQ(error_one("environment = { 'A=B' = 'x' }"),
            "a.toml:3: component.c.environment.A=B: cannot be a variable; names without '=', values without zero "
            "bytes");
}

TEST(ComponentReaderTest, AProgramWithADeclarationIsAMember) {
  const std::string program = "[component.c]\ncommand = ['p']\n";
  const auto spec = read(program + "declaration = 'describe'\nremap = { a = 'b' }\nhost = 'localhost'").at(0);
  EXPECT_TRUE(spec.is_member());
  EXPECT_FALSE(spec.is_visitor());
  EXPECT_EQ(spec.declaration->text, kDescribe);
  EXPECT_TRUE(read(program).at(0).is_visitor());
  EXPECT_FALSE(read_one("").is_member() || read_one("").is_visitor());
  EXPECT_EQ(error(program + "declaration = ''"),
            "a.toml:3: component.c.declaration: \"\" is not allowed; \"describe\" or the path of a JSON file");
  EXPECT_EQ(error(program + "declaration = 'describe'\nthread = 't'"),
            "a.toml:4: component.c.thread: is not for a member, which is a process of its own with one event loop");
  EXPECT_EQ(error_one("declaration = 'describe'"),
            "a.toml:3: component.c.declaration: is not for a plugin, which declares itself");
}

TEST(ComponentReaderTest, TheFileOfADeclarationIsBesideTheLaunchFile) {
  const auto specs =
      read_components(read_toml("[component.c]\ncommand = ['p']\ndeclaration = 'c.json'", "runs/a.toml"));
  EXPECT_EQ(specs.at(0).declaration->text, "runs/c.json");
}

}  // namespace
}  // namespace trainyard::launch
