// SPDX-License-Identifier: Apache-2.0
// Tests the verbs `param describe|dump|load`, `pause` and `resume` with an imitated run of two ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <mutex>
#include <sstream>

#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/testing/command_fixture.h"

namespace trainyard::tools {

using namespace testing;
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class RunningParametersTest : public CommandOnFakeRun {
 protected:
  void SetUp() override {
    run_.answer("nodes", json::parse(R"([
      {"component": "manager", "plugin": "strategy_manager", "rank": null, "services": ["stop", "pause", "go_on"]},
      {"component": "rank0/optimizer", "plugin": "optimizer", "rank": 0, "services": []},
      {"component": "rank1/optimizer", "plugin": "optimizer", "rank": 1, "services": []},
      {"component": "viewer", "plugin": "", "services": []}])"));
    run_.answer_calls([this](const std::string& target, const std::string& method, const json& body) {
      return answer(target, method, body);
    });
    run_.start();
  }
  void TearDown() override { run_.stop(); }

  /// Answers calls in the same way as components.
  json answer(const std::string& target, const std::string& method, const json& body) {
    const std::lock_guard lock(mutex_);
    calls_ += target + " " + method + (body.empty() ? "" : " " + body.dump()) + "\n";
    if (method == "pause" || method == "go_on") return {{"text", method + " after step 3"}};
    if (method == "param.list") return target == "optimizer" ? parameters_ : json::array();
    for (json& parameter : parameters_) {
      if (parameter["name"] != body.at("name")) continue;
      if (body.at("value") == 13) throw Error(Code::kInvalidArgument, "component 'optimizer': 13 brings bad luck");
      parameter["value"] = body.at("value");
      return parameter;
    }
    throw Error(Code::kNotFound, "no parameter {}", body.dump());
  }

  /// Returns the calls since this function was last called, without calls that only read values.
  std::string changes() {
    const std::lock_guard lock(mutex_);
    std::istringstream lines(std::exchange(calls_, ""));
    std::string changes;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("param.list") == line.npos) changes += line + "\n";
    }
    return changes;
  }

  std::string file(const std::string& text) const { return folder_.write("values.toml", text); }

  TemporaryFolder folder_;
  std::mutex mutex_;
  std::string calls_;
  json parameters_ = json::parse(R"([
    {"name": "lr", "value": 0.001, "default": 0.01, "kind": "number", "allowed": "a number > 0", "unit": "",
     "settable": true, "required": false, "help": "base learning rate", "minimum": 0, "minimum_excluded": true,
     "choices": [], "plugin_kind": ""},
    {"name": "warmup", "value": 5, "default": 0, "kind": "integer", "allowed": "an integer", "unit": "steps",
     "settable": true, "required": false, "help": "", "minimum_excluded": false, "choices": [], "plugin_kind": ""},
    {"name": "rule", "value": "adamw", "default": null, "kind": "string", "allowed": "one of: adamw, sgd", "unit": "",
     "settable": false, "required": true, "help": "", "minimum_excluded": false, "choices": ["adamw", "sgd"],
     "plugin_kind": ""}])");
};

TEST_F(RunningParametersTest, DumpsWhatCanBeLoadedAgain) {
  EXPECT_EQ(command({"param", "dump", "--all"}), kExitOk) << err_;
  EXPECT_THAT(out_, HasSubstr("\n[component.manager.params]\n\n[component.optimizer.params]\n"
                              "lr = 0.001  # settable\nwarmup = 5  # settable\nrule = \"adamw\"\n"));
  EXPECT_THAT(out_, Not(HasSubstr("rank"))) << "the launch file knows no ranks";
  EXPECT_EQ(command({"param", "dump", "optimizer", "--output", folder_.path("dump.toml")}), kExitOk) << err_;
  EXPECT_EQ(out_, "");
  EXPECT_EQ(command({"param", "load", folder_.path("dump.toml")}), kExitOk) << err_;
  EXPECT_EQ(out_, "nothing to change: the run has all of these values\n");
  EXPECT_EQ(changes(), "");
}

TEST_F(RunningParametersTest, LoadsWhatDiffersAndSaysWhatStays) {
  EXPECT_EQ(command({"param", "load", file("[component.optimizer.params]\nlr = 1\nwarmup = 5\nrule = \"sgd\"\n")}),
            kExitFailed);
  EXPECT_EQ(changes(), "optimizer param.set {\"name\":\"lr\",\"value\":1}\n");
  EXPECT_EQ(out_, "component  parameter  before  now\noptimizer  lr         0.001   1\n");
  EXPECT_THAT(err_,
              HasSubstr("values.toml:4: component.optimizer.params.rule: cannot be changed while the run goes on; "
                        "it stays \"adamw\"\n"));
}

TEST_F(RunningParametersTest, GoesOnAfterARefusal) {
  EXPECT_EQ(command({"param", "load", file("[component.optimizer.params]\nlr = 13\nwarmup = 6\n")}), kExitFailed);
  EXPECT_THAT(err_,
              HasSubstr("values.toml:2: component.optimizer.params.lr: component 'optimizer': 13 brings bad luck; "
                        "it stays 0.001\n"));
  EXPECT_EQ(out_, "component  parameter  before  now\noptimizer  warmup     5       6\n");
}

TEST_F(RunningParametersTest, SetsNothingIfTheFileHasAMistake) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"[component.optimizer.params]\nlr = 2\nwarmup = 1.5\n",
       "values.toml:3: component.optimizer.params.warmup: 1.5 is not allowed; an integer (steps)"},
      {"[component.optimizer.params]\nlr = 2\nwarmupp = 1\n",
       "values.toml:3: component.optimizer.params.warmupp: unknown parameter; did you mean 'warmup'?"},
      {"[component.optimizer.params]\nlr = 2\nrule = \"sdg\"\n", "did you mean 'sgd'?"},
      {"[component.optimiser.params]\nlr = 2\n",
       "values.toml:1: component.optimiser: the run has no such component; did you mean 'optimizer'?"},
      {"[component.optimizer]\nplugin = \"x\"\nparams.lr = 2\n",
       "values.toml:2: component.optimizer.plugin: only tables [component.NAME.params] can be loaded into a run"},
      {"[run]\nseed = 1\n", "values.toml:1: run: only tables [component.NAME.params] can be loaded into a run"},
      {"component = 3\n", "values.toml:1: component: 3 is not allowed; a table"},
      {"[component\n", "values.toml:1"},
  };
  for (const auto& [text, refusal] : files) {
    EXPECT_EQ(command({"param", "load", file(text)}), kExitUsage) << text;
    EXPECT_THAT(err_, HasSubstr(refusal)) << text;
    EXPECT_EQ(changes(), "") << text;
  }
  EXPECT_EQ(command({"param", "load", folder_.path("missing.toml")}), kExitNotFound);
  EXPECT_EQ(command({"param", "load", folder_.path()}), kExitUsage);
}

TEST_F(RunningParametersTest, ChoosesWhatToDump) {
  EXPECT_EQ(command({"param", "dump"}), kExitUsage);
  EXPECT_EQ(err_, "trainyard: param dump: name one component, or give --all\n");
  EXPECT_EQ(command({"param", "dump", "optimizer", "--all"}), kExitUsage);
  EXPECT_EQ(command({"param", "dump", "optimizer", "--output", "/nowhere/x.toml"}), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("cannot write /nowhere/x.toml: No such file or directory"));
}

TEST_F(RunningParametersTest, DescribesParameters) {
  EXPECT_EQ(command({"param", "describe", "optimizer", "lr"}), kExitOk) << err_;
  EXPECT_EQ(out_,
            "lr = 0.001\n  base learning rate\n  allowed: a number > 0\n  default: 0.01\n"
            "  can be changed while the run goes on\n");
  EXPECT_EQ(command({"param", "describe", "optimizer"}), kExitOk) << err_;
  EXPECT_THAT(out_,
              HasSubstr("\n\nrule = \"adamw\"\n  allowed: one of: adamw, sgd\n  default: none, it must be given\n"));
  EXPECT_EQ(command({"param", "describe", "optimizer", "l"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("component 'optimizer' has no parameter 'l'; did you mean 'lr'?"));
}

TEST_F(RunningParametersTest, PausesAndResumesWhateverTheManagerIsCalled) {
  EXPECT_EQ(command({"pause"}), kExitOk) << err_;
  EXPECT_EQ(out_, "pause after step 3\n");
  EXPECT_EQ(command({"resume"}), kExitOk) << err_;
  EXPECT_EQ(changes(), "manager pause\nmanager go_on\n");
}

TEST_F(RunningParametersTest, SaysThatARunWithoutAManagerCannotPause) {
  FakeRun other;
  other.answer("nodes", json::array());
  other.start();
  ::setenv("XDG_RUNTIME_DIR", other.runtime_directory().c_str(), 1);
  StartedCommand pause(other.runtime_directory(), {"pause"});
  EXPECT_EQ(pause.line(), "");
  EXPECT_EQ(pause.end_with(0), kExitUsage);
}

}  // namespace
}  // namespace trainyard::tools
