// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "checkpoints/checkpoint_reader.h"
#include "checkpoints/durable_file.h"
#include "checkpoints/safetensors.h"
#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"
#include "launch/plan/machine.h"
#include "tools/trainyard/exit_codes.h"

namespace trainyard::tools {

using namespace trainyard::testing;
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Runs the real command with separate environment variables, so that it finds no run of the user.
class CommandTest : public ::testing::Test {
 protected:
  CommandTest() {
    ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }

  /// Runs `trainyard` with these arguments and stores its output. Returns the exit code.
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TRAINYARD_COMMAND);
    const launch::ChildOutput output = launch::run_child(arguments, std::chrono::seconds(60));
    out_ = output.text;
    err_ = output.errors;
    return WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
  }

  TemporaryFolder folder_;
  std::string out_;
  std::string err_;
};

TEST_F(CommandTest, HelpsForEveryVerbWithAnExample) {
  for (const char* verb :
       {"launch", "plan", "check", "plugin", "topic", "node", "param", "service", "ckpt", "submit"}) {
    EXPECT_EQ(run({verb, "--help"}), kExitOk) << verb;
    EXPECT_THAT(out_, HasSubstr("Example")) << verb;
  }
  EXPECT_EQ(run({"doctor", "--help"}), kExitOk);
  EXPECT_EQ(run({"--help"}), kExitOk);
  EXPECT_EQ(run({"--version"}), kExitOk);
}

TEST_F(CommandTest, RefusesWhatItDoesNotKnowInOneLineWithTheNearestName) {
  EXPECT_EQ(run({"lanch"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("trainyard: no verb 'lanch'; did you mean 'launch'?"));
  EXPECT_EQ(run({"topic", "ecko"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("no verb 'ecko'; did you mean 'echo'?"));
  EXPECT_EQ(run({}), kExitUsage);
  EXPECT_EQ(run({"topic", "echo", "/metrics", "--timeout", "-1"}), kExitUsage);
  EXPECT_EQ(std::ranges::count(err_, '\n'), 1);
}

TEST_F(CommandTest, SaysThatNothingRuns) {
  const std::vector<std::vector<std::string>> questions = {
      {"node", "list"}, {"topic", "list"}, {"topic", "echo", "/metrics"}, {"param", "list", "optimizer"}};
  for (const auto& question : questions) {
    EXPECT_EQ(run(question), kExitNotFound);
    EXPECT_THAT(err_, HasSubstr("trainyard: no launch is running"));
  }
}

TEST_F(CommandTest, ListsAcceleratorsWithWhatIsThereNow) {
  ASSERT_EQ(run({"plugin", "list", "accelerators"}), kExitOk) << err_;
  EXPECT_THAT(out_, ::testing::ContainsRegex("cpu +yes +[1-9][0-9]* +"));
  EXPECT_THAT(out_, HasSubstr("simulated"));
  EXPECT_EQ(run({"plugin", "list", "accelerator", "--json"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr(R"("available": true)"));
  EXPECT_EQ(run({"plugin", "list", "strategies"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("single_device"));
}

TEST_F(CommandTest, RefusesWhatAnAcceleratorsRulesForbidBeforeAnythingStarts) {
  const std::string folder = std::string(TRAINYARD_SOURCE_DIR) + "/tests/launch_errors/";
  for (const char* name : {"three_ipus", "clipping_on_an_ipu", "precision_that_an_ipu_lacks", "more_devices_than_exist",
                           "unknown_accelerator"}) {
    for (const char* verb : {"plan", "check", "launch"}) {
      EXPECT_EQ(run({verb, folder + name + ".toml"}), kExitUsage) << verb << " " << name;
      EXPECT_THAT(err_, HasSubstr(std::string(name) + ".toml:")) << verb;
      EXPECT_EQ(std::ranges::count(err_, '\n'), 1) << err_;
    }
  }
  EXPECT_EQ(run({"plan", folder + "three_ipus.toml", "devices=1"}), kExitOk) << err_;
}

/// Tests mistakes that would otherwise be noticed only after the start, and would end or block the launch.
TEST_F(CommandTest, RefusesWhatCannotWorkBeforeAnythingStarts) {
  const std::string six =
      "include = [\"" + std::string(TRAINYARD_SOURCE_DIR) + "/tests/launch_errors/six.inc.toml\"]\n";
  const std::vector<std::pair<std::string, std::string>> files{
      {"[run]\nmax_steps = -1\n", "component.strategy_manager: the run has no end: give max_steps, max_epochs or"},
      {"component.accelerator_host.params.model = \"gpt\"\n",
       ":2: component.accelerator_host.params.model: the model gpt learns a token for each token, but the target of "
       "the "
       "dataset synthetic"},
      {"component.data_loader.params.dataset = { plugin = \"csv\", path = \"x\", task = \"regression\" }\n",
       "component.accelerator_host.params.model: the model mlp learns a class, but the target of the dataset csv"},
      {"component.checkpoint_writer.respawn = \"always\"\n",
       ":2: component.checkpoint_writer.respawn: \"always\" is not allowed"},
  };
  for (const auto& [text, refusal] : files) {
    const std::string path = folder_.write("impossible.toml", six + text);
    for (const char* verb : {"plan", "check", "launch"}) {
      EXPECT_EQ(run({verb, path}), kExitUsage) << verb << " " << text;
      EXPECT_THAT(err_, HasSubstr(refusal)) << verb;
      EXPECT_EQ(std::ranges::count(err_, '\n'), 1) << err_;
    }
  }
}

TEST_F(CommandTest, RefusesRanksThatTheMemoryOfThisMachineCannotHold) {
  const std::string path = std::string(TRAINYARD_SOURCE_DIR) + "/tests/launch_errors/six.inc.toml";
  if (launch::this_machine().memory_bytes > 200ull << 30) GTEST_SKIP() << "skipped: this machine could hold them";
  for (const char* verb : {"plan", "check", "launch"}) {
    // If this were not refused, the verb `launch` would start all 4096 ranks.
    ASSERT_EQ(run({verb, path, "devices=4096"}), kExitUsage) << verb;
    EXPECT_THAT(err_, HasSubstr("command line: topology.devices: 4096 needs at least "));
    EXPECT_THAT(err_, HasSubstr("topology.overcommit = true"));
  }
}

TEST_F(CommandTest, SaysWhatItHasChosenAndThatRanksShareCores) {
  const std::string path = std::string(TRAINYARD_SOURCE_DIR) + "/tests/launch_errors/six.inc.toml";
  ASSERT_EQ(run({"plan", path, "devices=-1"}), kExitOk) << err_;
  EXPECT_THAT(out_, HasSubstr("(given as -1): a rank on every device of cpu\n"));
  EXPECT_THAT(err_, IsEmpty());
  const std::string more = std::to_string(std::thread::hardware_concurrency() + 1);
  ASSERT_EQ(run({"plan", path, "devices=" + more}), kExitOk) << err_;
  EXPECT_THAT(err_, HasSubstr("warning: " + more + " ranks share the "));
  EXPECT_EQ(run({"check", path, "devices=-7"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("topology.devices: -7 is not allowed; a count from 1 to 4096"));
}

TEST_F(CommandTest, ListsEveryPluginOnceWhereThePathsOverlap) {
  const std::string plugins = std::filesystem::path(TRAINYARD_COMMAND).parent_path().parent_path() / "plugins";
  ::setenv("TRAINYARD_PLUGIN_PATH", (plugins + ":" + plugins + "/datasets").c_str(), 1);
  EXPECT_EQ(run({"plugin", "list", "datasets"}), kExitOk) << err_;
  const std::string listed = out_;
  EXPECT_EQ(run({"plugin", "info", "synthetics"}), kExitNotFound);
  ::unsetenv("TRAINYARD_PLUGIN_PATH");
  EXPECT_EQ(listed.find("synthetic"), listed.rfind(" synthetic ") + 1) << listed;
  EXPECT_EQ(err_.find(" synthetic,"), err_.rfind(" synthetic,")) << err_;
}

TEST_F(CommandTest, AnswersSlipsOnTheCommandLineWithWhatWasMeant) {
  EXPECT_EQ(run({"check", "mlp.toml", "lr=0.1"}), kExitUsage);
  EXPECT_EQ(err_,
            "trainyard: command line: lr: no argument has this name; a parameter is given with its path: "
            "component.optimizer.params.lr=0.1\n");
  const std::string file =
      folder_.write("slip.toml", "include = ['mlp.toml']\n[component.data_loder.params]\nbatch_size = 8\n");
  EXPECT_EQ(run({"check", file}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("; did you mean 'data_loader'?"));
}

TEST_F(CommandTest, TakesTheThreadsOfTheProcessorAsANumber) {
  const auto check = [&](const std::string& threads) {
    return run({"check", "mlp.toml", "topology.accelerator={plugin=\"cpu\",threads=" + threads + "}"});
  };
  EXPECT_EQ(check("1"), kExitOk) << err_;
  EXPECT_EQ(check("\"auto\""), kExitOk) << err_;
  EXPECT_EQ(check("1.5"), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("accelerator.threads: 1.5 is not allowed; an integer or a string"));
}

TEST_F(CommandTest, APluginThatIsSwappedOnTheCommandLineLosesTheParametersOfTheOldOne) {
  EXPECT_EQ(run({"check", "mlp.toml", "component.data_loader.params.dataset.plugin=text",
                 "component.data_loader.params.dataset.path=" + folder_.path(),
                 "component.accelerator_host.params.model.plugin=gpt"}),
            kExitOk)
      << err_;
  EXPECT_EQ(run({"check", "mlp.toml", "component.data_loader.params.dataset.plugin=text"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("command line: component.data_loader.params.dataset.path: must be given"));
}

TEST_F(CommandTest, ShowsOnlyExamplesOfParametersThatCanBeSet) {
  EXPECT_EQ(run({"param", "--help"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("param set optimizer lr"));
  EXPECT_EQ(run({"plugin", "info", "optimizer"}), kExitOk);
  EXPECT_THAT(out_, ::testing::ContainsRegex("  lr .*settable while it runs"));
}

TEST_F(CommandTest, CallsABrokenLaunchFileBadInputAndStartsNothing) {
  for (const char* verb : {"launch", "plan", "check"}) {
    EXPECT_EQ(run({verb, folder_.path() + "/missing.toml"}), kExitUsage) << verb;
    EXPECT_THAT(err_, HasSubstr("trainyard: ")) << verb;
    EXPECT_EQ(run({verb, folder_.write("broken.toml", "[component.x\n")}), kExitUsage) << verb;
    EXPECT_THAT(err_, HasSubstr("broken.toml:1")) << verb;
    EXPECT_EQ(run({verb, folder_.write("unknown.toml", "[component.x]\nplugin = \"no_such_plugin\"\n")}), kExitUsage);
    EXPECT_THAT(err_, HasSubstr("no_such_plugin")) << verb;
    EXPECT_EQ(std::ranges::count(err_, '\n'), 1) << err_;
  }
}

TEST_F(CommandTest, FindsNoCheckpointAndNoPlugin) {
  EXPECT_EQ(run({"ckpt", "show", folder_.path()}), kExitNotFound);
  EXPECT_EQ(run({"ckpt", "verify", folder_.path()}), kExitNotFound);
  EXPECT_EQ(run({"plugin", "info", "no_such_plugin"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("no plugin named 'no_such_plugin'"));
}

/// Runs the command on a checkpoint in the folder of the test.
class CheckpointCommandTest : public CommandTest {
 protected:
  /// Writes the checkpoint. Its tensors have these names, and six numbers each.
  void save(const checkpoints::RunRecord& record, const std::vector<std::string>& model,
            const std::vector<std::string>& state) {
    using namespace checkpoints;
    Manifest manifest{.trainyard = "0.1"};
    manifest.files[kModelFile] = write_safetensors(folder_.path(kModelFile), tensors(model), {});
    manifest.files[kStateFile] = write_safetensors(folder_.path(kStateFile), tensors(state), {});
    manifest.files[kRunFile] = write(kRunFile, format_run_record(record));
    write(kManifestFile, format_manifest(manifest));
  }

 private:
  std::vector<checkpoints::SafetensorsTensor> tensors(const std::vector<std::string>& names) const {
    std::vector<checkpoints::SafetensorsTensor> all;
    for (const std::string& name : names) {
      all.push_back({name, DType::kFloat32, {2, 3}, std::as_bytes(std::span(numbers_))});
    }
    return all;
  }

  checkpoints::FileDigest write(const char* name, const std::string& text) const {
    checkpoints::DurableFile file(folder_.path(name));
    file.write(text);
    return file.close();
  }

  std::vector<float> numbers_ = std::vector<float>(6);
};

TEST_F(CheckpointCommandTest, ListsTheTensorsOfAModelAndOfStatesWithTheirOwners) {
  const SavedState shared{.owner = "strategy/ddp", .values = "", .tensors = {{"q", {}}}};
  const SavedState own{.owner = "strategy/ddp", .rank = 1, .per_rank = true, .values = "", .tensors = {{"error", {}}}};
  save({.step = 20, .states = {shared, own}, .model = "mlp", .time = checkpoints::utc_now()}, {"weight"},
       {"strategy/ddp/q", "rank1/strategy/ddp/error", "rank1/optimizer/m"});
  EXPECT_EQ(run({"ckpt", "show", folder_.path()}), kExitOk) << err_;
  EXPECT_THAT(out_, Not(HasSubstr("strategy/ddp")));
  EXPECT_EQ(run({"ckpt", "show", folder_.path(), "--tensors"}), kExitOk) << err_;
  EXPECT_THAT(out_, ContainsRegex("weight +F32 "));
  EXPECT_THAT(out_, ContainsRegex("strategy/ddp/q +strategy/ddp +F32 "));
  EXPECT_THAT(out_, ContainsRegex("rank1/strategy/ddp/error +strategy/ddp +F32 "));
  EXPECT_THAT(out_, ContainsRegex("rank1/optimizer/m +optimizer +F32 "));
}

TEST_F(CheckpointCommandTest, ShowsNamesOfAHostileCheckpointWithoutWhatCouldSteerATerminal) {
  const auto hostile = [](const std::string& name) { return name + "\033[2J\r\a\nall is well"; };
  const SavedState state{.owner = hostile("owner"), .values = "", .tensors = {{hostile("q"), {}}}};
  save({.step = 20,
        .metrics = {{hostile("loss"), 1}},
        .states = {state},
        .reason = hostile("reason"),
        .model = hostile("mlp"),
        .optimizer = hostile("adamw"),
        .time = hostile("time")},
       {hostile("weight")}, {hostile("owner") + "/" + hostile("q")});
  EXPECT_EQ(run({"ckpt", "show", folder_.path(), "--tensors"}), kExitOk) << err_;
  for (const char* name : {"owner", "q", "loss", "reason", "mlp", "adamw", "time", "weight"}) {
    EXPECT_THAT(out_, HasSubstr(name + std::string("?[2J???all is well")));
  }
  EXPECT_EQ(std::ranges::count_if(out_, [](char c) { return c != '\n' && c < ' '; }), 0) << out_;
  EXPECT_THAT(out_, Not(HasSubstr("\nall is well")));
}

TEST_F(CommandTest, UsesNoColoursOffATerminal) {
  run({"doctor"});
  EXPECT_THAT(out_, HasSubstr("libzmq"));
  EXPECT_THAT(out_, Not(HasSubstr("\033")));
  EXPECT_EQ(run({"plugin", "list"}), kExitOk);
  EXPECT_THAT(out_, Not(HasSubstr("\033")));
}

TEST(ExitCodesTest, SayWhatKindOfErrorItWas) {
  EXPECT_EQ(exit_code_of(Code::kInvalidArgument), 2);
  EXPECT_EQ(exit_code_of(Code::kNotFound), 3);
  EXPECT_EQ(exit_code_of(Code::kTimeout), 124);
  EXPECT_EQ(exit_code_of(Code::kCancelled), 130);
  EXPECT_EQ(exit_code_of(Code::kCorrupt), 1);
}

}  // namespace
}  // namespace trainyard::tools
