// SPDX-License-Identifier: Apache-2.0
// Tests what users can do during a run with one or several ranks: stop it, change its parameters, and read its memory.
// Also tests a run whose loss is not a number.

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <regex>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::Command;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TrainingTest;

class ControlTest : public TrainingTest {
 protected:
  static std::string model(const std::string& parameters) {
    return "component.accelerator_host.params.model={plugin=\"moody\"" + parameters + "}";
  }

  /// Runs `trainyard param VERB...` and returns what it printed; fails the test unless its exit code is `code`.
  std::string param(std::vector<std::string> words, int code = 0) {
    words.insert(words.begin(), "param");
    const auto command = run(std::move(words));
    EXPECT_EQ(command->wait(), code) << command->all();
    return command->all();
  }

  json run_record(const std::string& checkpoint) const { return json::parse(read(checkpoint + "/run.json")); }

  std::string last_checkpoint(const std::string& directory) const {
    const auto link = directory_ / directory / "checkpoints/last";
    return directory + "/checkpoints/" + std::filesystem::read_symlink(link).filename().string();
  }

  /// Returns the last number on the line that begins with `words`.
  static std::string after(const std::string& text, const std::string& words) {
    std::smatch found;
    return std::regex_search(text, found, std::regex(words + "([0-9a-f]+)")) ? found[1].str() : "";
  }
};

/// Tests with a number of ranks and the duration of a step in seconds. An order has 32 steps.
class StopTest : public ControlTest, public ::testing::WithParamInterface<std::pair<int, double>> {};

TEST_P(StopTest, ComesAfterAtMostTwoStepsWithACheckpointOfTheStepThatItNames) {
  const auto [ranks, step_s] = GetParam();
  const auto training = train("stopped", {"devices=" + std::to_string(ranks), "strategy=auto",
                                          model(",step_s=" + std::to_string(step_s)), "run.stop_timeout_s=4"});
  ASSERT_TRUE(eventually([&] { return state_of("strategy_manager") == "active" && sent("/orders") > 0; }));
  ASSERT_TRUE(eventually([&] { return steps("stopped").size() >= 2; })) << training->all();
  const auto asked = std::chrono::steady_clock::now();
  interrupt(*training);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - asked;
  // The limit allows two steps, and time to write and to end on a busy machine. The orders that have been sent have up
  // to 64 steps.
  EXPECT_LT(took.count(), 2 * step_s + 10);
  const std::string step = after(training->all(), "run finished: stopped by request after step ");
  ASSERT_NE(step, "") << training->all();
  EXPECT_EQ(run_record(last_checkpoint("stopped"))["step"], std::stoull(step));
}

INSTANTIATE_TEST_SUITE_P(Ranks, StopTest,
                         ::testing::Values(std::pair{1, 0.05}, std::pair{2, 0.05}, std::pair{4, 0.05},
                                           std::pair{2, 0.5}, std::pair{4, 0.5}),
                         [](const auto& info) {
                           return std::to_string(info.param.first) + "RanksWithStepsOf" +
                                  std::to_string(static_cast<int>(info.param.second * 1000)) + "Milliseconds";
                         });

TEST_F(ControlTest, ALaunchIsFoundByTheNameThatItsCommandLineGives) {
  const auto training = train("named", {"--name", "mine"});
  ASSERT_TRUE(eventually([&] { return state_of("strategy_manager") == "active"; })) << training->all();
  const auto list = run({"node", "list", "--run", "mine"});
  EXPECT_EQ(list->wait(), 0) << list->all();
  interrupt(*training);
}

TEST_F(ControlTest, AParameterIsSetOnAllRanksAtOnceAndStaysInCheckpoints) {
  const auto training = train("set", {"devices=2", "strategy=ddp", "component.optimizer.params.lr=0.001"});
  ASSERT_TRUE(eventually([&] { return steps("set").size() >= 20; })) << training->all();
  EXPECT_THAT(param({"set", "optimizer", "lr", "0.05"}), HasSubstr("0.05"));
  for (const char* name : {"optimizer", "rank0/optimizer", "rank1/optimizer"}) {
    EXPECT_THAT(param({"get", name, "lr"}), HasSubstr("0.05")) << name;
  }
  interrupt(*training);
  EXPECT_THAT(training->all(), ContainsRegex("optimizer: lr = 0.05 after step [0-9]+, instead of 0.001"));
  EXPECT_EQ(run_record(last_checkpoint("set"))["settings"],
            json::parse(R"([{"component":"optimizer","parameter":"lr","value":"0.05","instead_of":"0.001"}])"));

  const auto again = train("set", {"devices=2", "strategy=ddp", "component.optimizer.params.lr=0.001",
                                   "component.checkpoint_writer.params.resume=last"});
  ASSERT_TRUE(eventually([&] {
    // The command fails until the launch can be found and its ranks have started.
    const auto command = run({"param", "get", "optimizer", "lr"});
    return command->wait() == 0 && command->all().find("0.05") != std::string::npos;
  })) << again->all();
  interrupt(*again);
  EXPECT_THAT(again->all(), HasSubstr("lr = 0.05, as it was set while the run went on, instead of 0.001"));
}

TEST_F(ControlTest, AParameterOfOneRankAmongSeveralIsNotSet) {
  const auto training = train("one", {"devices=2", "strategy=ddp", "component.optimizer.params.lr=0.001"});
  ASSERT_TRUE(eventually([&] { return steps("one").size() >= 20; })) << training->all();
  EXPECT_THAT(param({"set", "rank1/optimizer", "lr", "0.05"}, 2),
              HasSubstr("'rank1/optimizer' is one of 2 that must stay alike, so a parameter is set for all ranks at "
                        "once; set it for 'optimizer'"));
  EXPECT_THAT(param({"set", "optimizer", "lr", "wrong"}, 2), HasSubstr("lr"));
  EXPECT_THAT(param({"get", "rank1/optimizer", "lr"}), HasSubstr("0.001"));
  const std::size_t now = steps("one").size();
  EXPECT_TRUE(eventually([&] { return steps("one").size() > now; })) << "the run goes on after a refusal";
  interrupt(*training);
}

TEST_F(ControlTest, ANamespaceIsNotMistakenForARank) {
  const auto training = train("space", {"component.logger.namespace=shown"});
  ASSERT_TRUE(eventually([&] { return steps("space").size() >= 5; })) << training->all();
  EXPECT_THAT(param({"set", "shown/logger", "console_interval_s", "7"}, 2),
              HasSubstr("'console_interval_s' cannot be changed while running"));
  const std::size_t now = steps("space").size();
  EXPECT_TRUE(eventually([&] { return steps("space").size() > now; })) << "the run goes on after a refusal";
  interrupt(*training);
}

TEST_F(ControlTest, ALossThatIsNotANumberEndsTheRunAndNamesStepAndBatch) {
  for (const char* ranks : {"devices=1", "devices=2"}) {
    const std::string directory = std::string("nan") + ranks[8];
    const std::string said = run_to_end(
        directory, {ranks, "strategy=auto", model(",nan_at=25"), "max_steps=100", "checkpoint_every_steps=10"}, 1);
    EXPECT_THAT(said, HasSubstr("the loss is nan in step 25, batch 24 of epoch 0 (train)"));
    EXPECT_EQ(run_record(last_checkpoint(directory))["step"], 20) << "the last good checkpoint stays";
    EXPECT_THAT(read(directory + "/metrics_train.csv"), Not(HasSubstr("nan")));
  }
}

TEST_F(ControlTest, AStepWhoseLossIsNotANumberCanBeLeftOutOnAllRanks) {
  const std::string said = run_to_end("skip", {"devices=2", "strategy=ddp", model(",nan_at=5,nan_rank=1"),
                                               "max_steps=20", "component.accelerator_host.params.on_nan=skip"});
  EXPECT_THAT(said, HasSubstr("a step after step 4 (with batch 4 of epoch 0) is skipped"));
  EXPECT_EQ(run_record(last_checkpoint("skip"))["step"], 19) << "20 were ordered";
}

TEST_F(ControlTest, EarlyStoppingSaysThatThereNeverWasANumber) {
  const std::string said = run_to_end(
      "ignored", {model(",nan_at=1"), "max_steps=100", "early_stopping_patience=1", "validate_every_steps=10",
                  "component.accelerator_host.params.on_nan=ignore", "checkpoint_after_validation=false"});
  EXPECT_THAT(said, HasSubstr("it was never a finite number"));
  EXPECT_THAT(read("ignored/metrics_train.csv"), AllOf(HasSubstr(",nan"), Not(HasSubstr("-nan"))));
}

/// Trains three times with the component `averager` in a separate process, which must read the same parameters after
/// the same steps.
TEST_F(ControlTest, AReaderOfTheArenaSeesEveryStepWhereverItIs) {
  const std::string averager = "[component.averager]\nplugin = \"averager\"\n";
  std::string first;
  for (const char* placement : {"composed", "processes", "processes"}) {
    const std::string said = run_to_end(
        "read", {"max_steps=200", std::string("placement=") + placement, "checkpoint_at_end=false"}, 0, averager);
    const std::string hash = after(said, "averager: ");
    EXPECT_THAT(said, HasSubstr(hash + " after 200 steps"));
    if (first.empty()) first = hash;
    EXPECT_EQ(hash, first) << placement;
  }
}

}  // namespace
}  // namespace trainyard
