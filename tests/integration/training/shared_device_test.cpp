// SPDX-License-Identifier: Apache-2.0
// Tests runs in which an optimizer in a process of its own works on the memory of a device. The test device shares its
// memory between processes, and its kernels are those of the processor, so the results must not depend on the
// placement.

#include <gmock/gmock.h>
#include <signal.h>

#include <numeric>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TrainingTest;
using Arguments = std::vector<std::string>;

constexpr const char* kDevice = "component.accelerator_host.params.accelerator={plugin=\"test_device\"}";
constexpr const char* kThreeLayers = "component.accelerator_host.params.model={plugin=\"mlp\",hidden=[16,16,16]}";
constexpr std::size_t kSteps = 20;

class SharedDeviceTest : public TrainingTest {
 protected:
  std::vector<std::string> losses_with(const std::string& directory, Arguments arguments) {
    arguments.push_back("max_steps=" + std::to_string(kSteps));
    run_to_end(directory, std::move(arguments));
    std::vector<std::string> all = losses(directory, kSteps);
    EXPECT_EQ(all.size(), kSteps);
    return all;
  }

  double sum(const std::string& directory, const char* name) const {
    const std::vector<double> values = logged(directory, name);
    return std::accumulate(values.begin(), values.end(), 0.0);
  }

  void expect_nothing_copied(const std::string& directory) const {
    for (const char* name : {"bytes_over_link.parameters", "bytes_over_link.gradients", "bytes_over_link.readers"}) {
      EXPECT_THAT(logged(directory, name), IsEmpty()) << name;
    }
  }

  void expect_same_files(const std::string& one, const std::string& other) const {
    for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
      const std::string path = std::string("/checkpoints/step-00000020/") + file;
      const std::string saved = read(one + path);
      EXPECT_FALSE(saved.empty()) << file;
      EXPECT_TRUE(read(other + path) == saved) << file;
    }
  }
};

TEST_F(SharedDeviceTest, ThePlacementDoesNotChangeTheBitsAndNoStepCopiesParametersOrGradients) {
  const auto composed = losses_with("composed", {kDevice, "placement=composed"});
  EXPECT_EQ(losses_with("processes", {kDevice, "placement=processes"}), composed);
  EXPECT_EQ(losses_with("cpu", {"placement=composed"}), composed);
  expect_same_files("processes", "composed");
  expect_same_files("processes", "cpu");
  for (const char* placement : {"composed", "processes"}) expect_nothing_copied(placement);
  EXPECT_EQ(sum("processes", "bytes_over_link"), sum("processes", "bytes_over_link.batch"));
}

/// The rules have none to three blocks of state.
class SharedDeviceRuleTest : public SharedDeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(SharedDeviceRuleTest, ThePlacementDoesNotChangeTheBits) {
  const std::string rule = GetParam();
  const auto composed = losses_with("composed", {kDevice, rule, "placement=composed"});
  EXPECT_EQ(losses_with("processes", {kDevice, rule, "placement=processes"}), composed);
  expect_nothing_copied("processes");
  expect_same_files("processes", "composed");
}

INSTANTIATE_TEST_SUITE_P(Rules, SharedDeviceRuleTest,
                         ::testing::Values("component.optimizer.params={rule=\"sgd\",momentum=0.9}",
                                           "component.optimizer.params={rule=\"adam\",amsgrad=true}"),
                         [](const auto& info) { return info.index == 0 ? "Sgd" : "Amsgrad"; });

class SharedDeviceStrategyTest : public SharedDeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(SharedDeviceStrategyTest, TwoRanksTrainInProcessesAsOnTheHost) {
  const std::string strategy = GetParam();
  const bool is_diloco = strategy == "diloco";  // By default, its ranks exchange nothing in the first 20 steps.
  const Arguments common{"devices=2", kThreeLayers,
                         is_diloco ? R"(strategy={plugin="diloco",every_steps=8})" : "strategy=" + strategy};
  Arguments cpu = common, device = common;
  cpu.emplace_back("placement=composed");
  device.emplace_back("placement=processes");
  device.emplace_back(kDevice);
  const auto expected = losses_with("cpu", cpu);
  EXPECT_EQ(losses_with("device", device), expected);
  expect_same_files("device", "cpu");
  if (strategy != "parameter_server") expect_nothing_copied("device");
  EXPECT_GT(sum("device", "bytes_over_link.collectives"), 0);
}

INSTANTIATE_TEST_SUITE_P(Strategies, SharedDeviceStrategyTest,
                         ::testing::Values("ddp", "zero1", "zero2", "fsdp", "local_sgd", "diloco", "horovod",
                                           "hierarchical", "parameter_server", "pipeline"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(SharedDeviceTest, ARunThatResumesInProcessesHasTheBitsOfOneThatDidNotStop) {
  const auto whole = losses_with("whole", {kDevice, "placement=composed"});
  run_to_end("half", {kDevice, "placement=processes", "max_steps=10"});
  run_to_end("rest", {kDevice, "placement=processes", "max_steps=20",
                      "component.checkpoint_writer.params.resume=" + (directory_ / "half/checkpoints/last").string()});
  std::vector<std::string> rest;
  for (const testing::TrainedStep& step : steps("rest")) rest.push_back(step.loss);
  EXPECT_EQ(rest, std::vector<std::string>(whole.begin() + 10, whole.end()));
  expect_same_files("rest", "whole");
}

TEST_F(SharedDeviceTest, CheckpointsDuringTheRunHaveTheSameFilesInBothPlacements) {
  const std::string often = "component.strategy_manager.params.checkpoint_every_steps=5";
  for (const char* placement : {"composed", "processes"}) {
    losses_with(placement, {kDevice, std::string("placement=") + placement, often,
                            "component.checkpoint_writer.params.keep_last=0"});
  }
  for (const char* step : {"step-00000005", "step-00000010", "step-00000015", "step-00000020"}) {
    for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
      const std::string path = std::string("/checkpoints/") + step + "/" + file;
      EXPECT_FALSE(read("composed" + path).empty()) << path;
      EXPECT_TRUE(read("processes" + path) == read("composed" + path)) << path;
    }
  }
}

TEST_F(SharedDeviceTest, ThePlanSaysThroughWhichPluginTheOptimizerWorksOnTheDevice) {
  const auto plan = run({"plan", training_file("planned", ""), "placement=processes", kDevice});
  EXPECT_EQ(plan->wait(), 0) << plan->all();
  EXPECT_THAT(plan->all(), AllOf(HasSubstr("never         gradients and parameters: the optimizer works on the device"),
                                 HasSubstr("the device plugin test_device"), HasSubstr("memory = \"device\"")));
}

TEST_F(SharedDeviceTest, PluginsOfOneNameAreAllNamed) {
  const auto shown = run({"plugin", "info", "test_device"});
  EXPECT_EQ(shown->wait(), 0) << shown->all();
  EXPECT_THAT(shown->out(), ::testing::StartsWith("accelerator test_device"));
  EXPECT_THAT(shown->err(), HasSubstr("there is also `trainyard plugin info device/test_device`"));
}

/// Kills a component's process in the middle of the run.
class KilledProcessTest : public SharedDeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(KilledProcessTest, EndsTheRunWithItsNameAndLeavesNothing) {
  const std::string component = GetParam();
  const auto training = train("killed", {kDevice, "placement=processes"});
  ASSERT_TRUE(eventually([&] { return steps("killed").size() >= kSteps; })) << training->all();
  // The memory of the test device consists of memory files, which exist only as long as a process has opened them.
  expect_failure_without(component, *training);
}

INSTANTIATE_TEST_SUITE_P(Components, KilledProcessTest, ::testing::Values("optimizer", "accelerator_host"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace trainyard
