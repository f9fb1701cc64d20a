// SPDX-License-Identifier: Apache-2.0
// Tests the completion of words with real shells. The tests of zsh and fish are skipped if these shells are not
// installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "launch/plan/child_output.h"
#include "messages/metrics.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/testing/command_fixture.h"

namespace trainyard::tools {

using namespace testing;
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using Words = std::vector<std::string>;

class CompletionTest : public CommandOnFakeRun {
 protected:
  void SetUp() override {
    run_.add_topic<Metrics>("/metrics", {});
    run_.add_topic<Metrics>("/model", {});
    run_.answer("nodes", json::parse(R"([
        {"component": "rank0/optimizer", "plugin": "optimizer", "rank": 0, "services": []},
        {"component": "manager", "plugin": "strategy_manager", "rank": 0, "services": ["pause", "go_on"]}])"));
    run_.answer_calls([](const std::string&, const std::string&, const json&) {
      return json::parse(R"([
          {"name": "lr", "value": 0.1, "default": 0.1, "kind": "number", "allowed": "", "unit": "", "settable": true,
           "required": false, "help": "how fast", "minimum_excluded": false, "choices": [], "plugin_kind": ""},
          {"name": "rule", "value": "sgd", "default": "sgd", "kind": "string", "allowed": "", "unit": "",
           "settable": false, "required": false, "help": "", "minimum_excluded": false, "choices": ["sgd", "adamw"],
           "plugin_kind": ""}])");
    });
    run_.start();
    ::setenv("XDG_RUNTIME_DIR", run_.runtime_directory().c_str(), 1);
  }

  static Words lines_of(const Words& program) {
    const launch::ChildOutput output = launch::run_child(program, std::chrono::seconds(60));
    EXPECT_TRUE(output.succeeded()) << output.errors;
    Words lines;
    std::istringstream text(output.text);
    for (std::string line; std::getline(text, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    return lines;
  }

  /// Returns the completions that bash offers for the last of these words.
  static Words bash(const Words& words) {
    Words program{"bash",
                  "--norc",
                  "--noprofile",
                  "-c",
                  "source <(\"$0\" completion bash); COMP_WORDS=(\"$0\" \"$@\"); COMP_CWORD=$#; _trainyard\n"
                  "printf '%s\\n' \"${COMPREPLY[@]}\"",
                  TRAINYARD_COMMAND};
    program.insert(program.end(), words.begin(), words.end());
    return lines_of(program);
  }

  static bool has(const char* shell) {
    return launch::run_child({"sh", "-c", "command -v " + std::string(shell)}, std::chrono::seconds(60)).succeeded();
  }
};

TEST_F(CompletionTest, OffersEveryVerbThatTheHelpHas) {
  const Words verbs = bash({""});
  EXPECT_THAT(verbs, IsSupersetOf({"launch", "topic", "pause", "completion"}));
  for (const std::string& verb : verbs) EXPECT_EQ(command({verb, "--help"}), kExitOk) << verb;
  EXPECT_THAT(bash({"topic", "e"}), ElementsAre("echo"));
  EXPECT_THAT(bash({"topic", "x"}), IsEmpty());
}

TEST_F(CompletionTest, OffersOptionsThatAreNotGivenYet) {
  EXPECT_THAT(bash({"topic", "hz", "--"}), IsSupersetOf({"--window", "--json", "--run", "--help"}));
  EXPECT_THAT(bash({"topic", "hz", "--json", "--j"}), IsEmpty());
  EXPECT_THAT(bash({"topic", "echo", "--field", "step", "--fi"}), ElementsAre("--field"));
  EXPECT_THAT(bash({"graph", "--format", "m"}), ElementsAre("mermaid"));
  EXPECT_THAT(bash({"graph", "--format", "=", "m"}), ElementsAre("mermaid")) << "as bash divides --format=m";
  EXPECT_THAT(bash({"graph", "--format", "="}), Contains("svg"));
}

TEST_F(CompletionTest, OffersTheNamesOfTheRunningLaunch) {
  EXPECT_THAT(bash({"topic", "echo", ""}), ElementsAre("/metrics", "/model"));
  EXPECT_THAT(bash({"topic", "hz", "--window", "5", "/me"}), ElementsAre("/metrics"));
  EXPECT_THAT(bash({"topic", "echo", "/metrics", "--field", "st"}), ElementsAre("step", "stage"));
  EXPECT_THAT(bash({"param", "get", ""}), ElementsAre("optimizer", "manager", "rank0/optimizer"));
  EXPECT_THAT(bash({"param", "get", "optimizer", ""}), ElementsAre("lr", "rule"));
  EXPECT_THAT(bash({"param", "set", "optimizer", ""}), ElementsAre("lr")) << "the other cannot be set";
  EXPECT_THAT(bash({"param", "set", "optimizer", "rule", "a"}), ElementsAre("adamw"));
  EXPECT_THAT(bash({"service", "call", "manager", ""}), ElementsAre("pause", "go_on"));
  EXPECT_THAT(bash({"node", "list", "--run", "f"}), Contains("fake"));
  EXPECT_THAT(bash({"node", "list", "--run", "nothing", "x"}), IsEmpty());
  EXPECT_THAT(bash({"topic", "echo", "--run", "nothing", ""}), IsEmpty()) << "there is no such run";
}

TEST_F(CompletionTest, OffersFilesAndPlugins) {
  const TemporaryFolder folder;
  folder.write("tuned.toml", "");
  EXPECT_THAT(bash({"param", "load", folder.path("tu")}), ElementsAre(folder.path("tuned.toml")));
  EXPECT_THAT(bash({"launch", "mnis"}), ElementsAre("mnist.toml"));
  EXPECT_THAT(bash({"plugin", "info", "optimiz"}), ElementsAre("optimizer"));
  EXPECT_THAT(bash({"plugin", "list", "data"}), ElementsAre("dataset"));
}

TEST_F(CompletionTest, WorksInZsh) {
  if (!has("zsh")) GTEST_SKIP() << "skipped: zsh is not installed";
  const char* script =
      "source =(\"$0\" completion zsh)\n"
      "_describe() { print -l -- \"${(@P)4}\" }\n_files() { print files }\n"
      "words=(\"$0\" \"$@\"); CURRENT=$#words; _trainyard";
  EXPECT_THAT(lines_of({"zsh", "-f", "-c", script, TRAINYARD_COMMAND, "topic", "ec"}),
              ElementsAre("echo:Print messages; never slows the run (drops the oldest)"));
  EXPECT_THAT(lines_of({"zsh", "-f", "-c", script, TRAINYARD_COMMAND, "topic", "echo", ""}),
              ElementsAre("/metrics:Metrics", "/model:Metrics"));
  EXPECT_THAT(lines_of({"zsh", "-f", "-c", script, TRAINYARD_COMMAND, "graph", "--format=m"}),
              ElementsAre("--format=mermaid:"));
  EXPECT_THAT(lines_of({"zsh", "-f", "-c", script, TRAINYARD_COMMAND, "ckpt", "show", ""}), ElementsAre("files"));
}

TEST_F(CompletionTest, WorksInFish) {
  if (!has("fish")) GTEST_SKIP() << "skipped: fish is not installed";
  const auto fish = [](const std::string& line) {
    const std::string folder = std::filesystem::path(TRAINYARD_COMMAND).parent_path();
    return lines_of({"fish", "--no-config", "-c",
                     "set PATH " + folder + " $PATH; trainyard completion fish | source; complete -C '" + line + "'"});
  };
  EXPECT_THAT(fish("trainyard topic ec"), ElementsAre("echo\tPrint messages; never slows the run (drops the oldest)"));
  EXPECT_THAT(fish("trainyard topic echo "), ElementsAre("/metrics\tMetrics", "/model\tMetrics"));
}

TEST_F(CompletionTest, TheManualDescribesEveryVerbAndIsCorrect) {
  ASSERT_EQ(command({"__manual"}), kExitOk) << err_;
  for (const char* section :
       {".SS \\fBtopic hz\\fR \\fITOPIC\\fR", ".SS \\fBparam load\\fR \\fIFILE\\fR",
        ".SS \\fBlaunch\\fR \\fIFILE\\fR [\\fIARGUMENT\\fR]...", "\\fB\\-\\-where\\fR \\fICONDITION\\fR"}) {
    EXPECT_THAT(out_, ::testing::HasSubstr(section));
  }
  if (!has("mandoc")) GTEST_SKIP() << "skipped: mandoc is not installed";
  // The manual page has no date, so that every build makes the same page. mandoc would report this, so the test adds a
  // date.
  const std::string undated = "TRAINYARD 1 \"\"";
  ASSERT_NE(out_.find(undated), out_.npos);
  out_.replace(out_.find(undated), undated.size(), "TRAINYARD 1 \"2000-01-01\"");
  const TemporaryFolder folder;
  const std::string page = folder.write("trainyard.1", out_);
  const launch::ChildOutput lint = launch::run_child({"mandoc", "-Tlint", "-Wwarning", page}, std::chrono::seconds(60));
  EXPECT_TRUE(lint.succeeded()) << lint.text << lint.errors;
}

}  // namespace
}  // namespace trainyard::tools
