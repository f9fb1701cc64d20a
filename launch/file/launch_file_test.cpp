// SPDX-License-Identifier: Apache-2.0
#include "launch/file/launch_file.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/testing/temporary_folder.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using std::chrono::milliseconds;

class LaunchFileTest : public ::testing::Test {
 protected:
  LaunchFile load(const std::string& text, const std::vector<std::string>& words = {}) {
    return load_launch_file(folder_.write("my run.toml", text + "\n[component.a]\nplugin = 'x'\n"), words,
                            {"max_steps"});
  }
  std::string error(const std::string& text, const std::vector<std::string>& words = {}) {
    return testing::error_of([&] { load(text, words); }, folder_.path());
  }

  testing::TemporaryFolder folder_;
};

TEST_F(LaunchFileTest, WhatIsNoFileIsRefusedInsteadOfRead) {
  const std::string fifo = folder_.path() + "/fifo.toml", self = folder_.path() + "/self.toml";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(::symlink("self.toml", self.c_str()), 0);
  const auto error = [&](const std::string& path) {
    return testing::error_of([&] { load_launch_file(path, {}, {}); }, folder_.path());
  };
  EXPECT_EQ(error(fifo), "fifo.toml: is a FIFO, not a file");
  EXPECT_EQ(error(self), "self.toml: cannot be read: Too many levels of symbolic links");
}

TEST_F(LaunchFileTest, HasDefaultsForEverythingAboutTheRun) {
  const RunSpec run = load("").run;
  EXPECT_EQ(run.name, "my_run");
  EXPECT_EQ(run.directory, "runs/my_run");
  EXPECT_EQ(run.log_level, LogLevel::kInfo);
  EXPECT_TRUE(run.flush_denormals);
  EXPECT_EQ(run.seed, 1u);
  EXPECT_EQ(run.start_timeout, milliseconds(30'000));
  EXPECT_EQ(run.stop_timeout, milliseconds(10'000));
  EXPECT_TRUE(run.manager.empty());
}

TEST_F(LaunchFileTest, SplitsRunBetweenLauncherAndManager) {
  const RunSpec run =
      load(
          "[run]\nname = 'b'\nseed = 7\nlog_level = 'debug'\nflush_denormals = false\nstop_timeout_s = 0.5\n"
          "max_steps = 3\nother = 'x'")
          .run;
  EXPECT_EQ(run.name, "b");
  EXPECT_EQ(run.directory, "runs/b");
  EXPECT_EQ(run.seed, 7u);
  EXPECT_FALSE(run.flush_denormals);
  EXPECT_EQ(run.stop_timeout, milliseconds(500));
  EXPECT_EQ(to_json(Value{run.manager, {}}).dump(), R"({"max_steps":3,"other":"x"})");
}

TEST_F(LaunchFileTest, ReplacesATildeAtTheBeginningOfTheDirectoryByAHome) {
  const char* home = std::getenv("HOME");
  ASSERT_NE(home, nullptr);
  EXPECT_EQ(load("", {"run.directory=~/x"}).run.directory, std::string(home) + "/x");
  EXPECT_EQ(load("[run]\ndirectory = '~'").run.directory, home);
  EXPECT_EQ(load("[run]\ndirectory = '~root/x'").run.directory, ::getpwnam("root")->pw_dir + std::string("/x"));
  EXPECT_EQ(load("[run]\ndirectory = './~/x'").run.directory, "./~/x");
  EXPECT_EQ(error("[run]\ndirectory = '~nobody-of-that-name/x'"),
            "my run.toml:2: run.directory: '~nobody-of-that-name/x' begins with the home of a user "
            "'nobody-of-that-name', who does not exist; a folder of that name is './~nobody-of-that-name/x'");
}

TEST_F(LaunchFileTest, ARunMayStandStillForEverIfItSaysSo) {
  EXPECT_EQ(load("").run.progress_timeout, milliseconds(300'000));
  EXPECT_EQ(load("[run]\nprogress_timeout_s = 0").run.progress_timeout, milliseconds(0));
  EXPECT_EQ(load("[run]\nprogress_timeout_s = 1.5").run.progress_timeout, milliseconds(1500));
  EXPECT_EQ(error("[run]\nprogress_timeout_s = 'long'"),
            "my run.toml:2: run.progress_timeout_s: \"long\" is not allowed; a number >= 0 and <= 86400");
}

TEST_F(LaunchFileTest, ChecksTheKeysOfRun) {
  EXPECT_EQ(error("[run]\nseed = -1"), "my run.toml:2: run.seed: -1 is not allowed; an integer >= 0");
  EXPECT_EQ(error("[run]\nlog_level = 'loud'"),
            "my run.toml:2: run.log_level: \"loud\" is not allowed; one of: trace, debug, info, warning, error, "
            "critical, off");
  EXPECT_EQ(error("[run]\nstart_timeout_s = 0"),
            "my run.toml:2: run.start_timeout_s: 0 is not allowed; a number > 0 and <= 86400");
  EXPECT_EQ(error("[run]\nname = '../x'"),
            "my run.toml:2: run.name: \"../x\" is not a name; letters, digits, '_' and '-', at most 64, the first one "
            "no digit");
  EXPECT_EQ(error("run = 3"), "my run.toml:1: run: 3 is not allowed; a table");
}

TEST_F(LaunchFileTest, UnknownSectionsAndKeysAreErrors) {
  EXPECT_EQ(error("[componet.b]\nplugin = 'x'"),
            "my run.toml:1: componet: unknown key; did you mean 'component'? known: args, component, group, include, "
            "run, topology");
  EXPECT_EQ(error("\n[topology]\ndevice = 1"),
            "my run.toml:3: topology.device: unknown key; did you mean 'devices'? known: accelerator, "
            "collective, devices, environment, join_timeout_s, key_file, nodes, overcommit, placement, precision, "
            "ranks_per_host, strategy");
}

TEST_F(LaunchFileTest, TakesTopologyAsItIs) {
  const TopologySpec topology = load("[topology]\ndevices = 2\naccelerator = { plugin = 'cpu', threads = 1 }").topology;
  EXPECT_FALSE(topology.placement);
  EXPECT_EQ(to_json(Value{topology.given, {}}).dump(), R"({"accelerator":{"plugin":"cpu","threads":1},"devices":2})");
}

TEST_F(LaunchFileTest, ReadsEveryFormOfPlacement) {
  for (const std::string word : {"composed", "processes", "ranks"}) {
    EXPECT_EQ(name_of(load("topology.placement = '" + word + "'").topology.placement->word), word);
  }
  const TopologySpec topology = load("[topology.placement]\nio = ['a', 'b']\nmath = ['c']").topology;
  EXPECT_EQ(topology.placed.at("a").text, "io");
  EXPECT_EQ(topology.placed.at("c").text, "math");
  EXPECT_EQ(topology.placed.at("c").origin.line, 3u);
}

TEST_F(LaunchFileTest, RefusesOtherPlacements) {
  EXPECT_EQ(
      error("topology.placement = 'split'"),
      "my run.toml:1: topology.placement: \"split\" is not allowed; \"composed\", \"processes\", \"ranks\" or a table "
      "{ process = [\"component\", ...] }");
  EXPECT_EQ(error("[topology.placement]\nio = ['a']\nmath = ['a']"),
            "my run.toml:3: topology.placement.math: 'a' is placed in 'io' already");
  EXPECT_EQ(error("topology.placement = { io = 'a' }"),
            "my run.toml:1: topology.placement.io: \"a\" is not allowed; a list of strings");
}

TEST_F(LaunchFileTest, ArgumentsOverridesAndKeysComeFromTheCommandLine) {
  const std::string text = "[args]\nn = 2\n[topology]\ndevices = '${n}'\n[run]\nname = 'r${n}'";
  const LaunchFile file = load(text, {"n=3", "max_steps=9", "component.a.params.x=0.5", "placement=processes"});
  EXPECT_EQ(file.run.name, "r3");
  EXPECT_EQ(to_json(file.topology.given.at("devices")).dump(), "3");
  EXPECT_EQ(file.topology.placement.value().word, Placement::kProcesses);
  EXPECT_EQ(to_json(Value{file.run.manager, {}}).dump(), R"({"max_steps":9})");
  EXPECT_EQ(to_json(file.components[0].parameters).dump(), R"({"x":0.5})");
}

TEST_F(LaunchFileTest, OverridesAreCheckedLikeTheFile) {
  EXPECT_EQ(error("", {"run.seed=x"}), "command line: run.seed: \"x\" is not allowed; an integer >= 0");
  EXPECT_EQ(error("", {"component.a.thred=x"}).substr(0, 61),
            "command line: component.a.thred: unknown key; did you mean 't");
}

TEST_F(LaunchFileTest, AFileWithoutComponentsIsAnError) {
  const std::string path = folder_.write("b.toml", "[run]\n");
  EXPECT_EQ(testing::error_of([&] { load_launch_file(path, {}); }, folder_.path()),
            "b.toml: has no component; at least one [component.NAME] is needed");
}

}  // namespace
}  // namespace trainyard::launch
