// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "launch/plan/child_output.h"
#include "launch/run/testing/launched_run.h"
#include "tools/trainyard/exit_codes.h"

namespace trainyard::tools {

using namespace trainyard::testing;
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

/// Runs the real command on a running launch with imitated processes.
class RunningTest : public ::testing::Test {
 protected:
  static launch::LaunchOptions options() {
    launch::LaunchOptions options;
    core::PluginInfo& plugin = options.plugins["fake"];
    plugin.outputs.push_back(
        {.name = "out", .type = "Number", .fingerprint = 0xabc, .schema = "Number {\n  u8 n\n}\n"});
    plugin.services.push_back({"pause", "Wish {\n  string reason\n}\n", "Empty {\n}\n", "Rests."});
    return options;
  }

  static launch::Plan plan() {
    launch::Plan plan = launch::testing::fake_plan({"{}"});
    plan.components[0].topics = {{"out", "/numbers"}};
    return plan;
  }

  void SetUp() override {
    ::setenv("XDG_RUNTIME_DIR", run_.runtime_directory().c_str(), 1);
    ASSERT_NE(run_.launcher(), 0) << run_.output();
    ASSERT_TRUE(launch::testing::eventually([this] {
      return command({"node", "list"}) == kExitOk && out_.find(" active") != out_.npos;
    }));
  }

  int command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TRAINYARD_COMMAND);
    const launch::ChildOutput output = launch::run_child(arguments, std::chrono::seconds(60));
    out_ = output.text;
    err_ = output.errors;
    return WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
  }

  launch::testing::LaunchedRun run_{plan(), options()};
  std::string out_;
  std::string err_;
};

TEST_F(RunningTest, ListsAndShowsComponents) {
  EXPECT_EQ(command({"node", "list", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(out_).at(0).at("component"), "c0");
  EXPECT_EQ(command({"node", "info", "c0"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("plugin: fake\nprocess: p0\n"));
  EXPECT_THAT(out_, HasSubstr("services:\n  service  request        reply\n  pause    string reason  nothing\n"));
  EXPECT_THAT(out_, HasSubstr("index: 0\n"));
  EXPECT_EQ(command({"node", "info", "d0"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("no component named 'd0'; did you mean 'c0'?"));
}

TEST_F(RunningTest, ListsAndShowsTopics) {
  EXPECT_EQ(command({"topic", "list"}), kExitOk);
  EXPECT_THAT(out_, ContainsRegex("/numbers +Number +c0"));
  EXPECT_EQ(command({"topic", "info", "numbers"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("topic: /numbers\ntype: Number\nfingerprint: 0000000000000abc\n"));
  EXPECT_THAT(out_, HasSubstr("schema:\nNumber {\n  u8 n\n}\n"));
  EXPECT_EQ(command({"topic", "info", "/number"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("no topic '/number'; did you mean '/numbers'?"));
}

TEST_F(RunningTest, CallsServicesAndSetsParameters) {
  EXPECT_EQ(command({"service", "call", "c0", "pause", R"({"for": 1})"}), kExitOk);
  EXPECT_EQ(json::parse(out_)["you_said"], R"({"for":1})");
  EXPECT_EQ(command({"service", "call", "c0", "pause", "no json"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("no json was given; a JSON object is needed"));
  EXPECT_EQ(command({"service", "call", "c0", "unknown"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("trainyard: no such method"));
  EXPECT_EQ(command({"param", "set", "c0", "rate", "0.5"}), kExitOk);
  EXPECT_EQ(command({"param", "get", "nobody", "rate"}), kExitNotFound);
}

TEST_F(RunningTest, ChoosesARunByName) {
  EXPECT_EQ(command({"node", "list", "--run", "fake"}), kExitOk);
  EXPECT_EQ(command({"node", "list", "--run", "fale"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("no launch named 'fale' is running; did you mean 'fake'?"));
}

TEST_F(RunningTest, GivesUpListeningInTime) {
  EXPECT_EQ(command({"topic", "echo", "/numbers", "--timeout", "0.01"}), kExitTimeout);
  EXPECT_THAT(err_, HasSubstr("no message on '/numbers' for 0.01 s"));
  EXPECT_EQ(command({"topic", "hz", "/numbers", "--timeout", "0.01"}), kExitTimeout);
  EXPECT_THAT(err_, HasSubstr("0 message(s) on '/numbers' within 0.01 s; a rate needs two"));
}

TEST_F(RunningTest, StopsListeningWhenTheRunEnds) {
  ::kill(run_.guard(), SIGKILL);
  ASSERT_TRUE(run_.directory_is_gone());
  EXPECT_EQ(command({"topic", "echo", "/numbers"}), kExitNotFound);
}

}  // namespace
}  // namespace trainyard::tools
